import * as v from 'valibot'
import { UndoableAction } from '../../automation/undoable.ts'
import { BidPrice } from '../../market/rental.ts'
import { command, onInstance, ServiceId } from '../command.ts'

/** What can be done with an instance. */
export const instanceCommands = {
  /** In five seconds (`undoable` in State); answered once it was sent or undone. */
  actSoon: command({ ...onInstance, action: UndoableAction }).answers<void>(),
  /** Calls off what `actSoon` has not sent yet; refused with `not_undone` where there is nothing. */
  undoAction: command(onInstance).answers<void>(),
  /** At once. */
  stopInstance: command(onInstance).answers<void>(),
  startInstance: command(onInstance).answers<void>(),
  rebootInstance: command(onInstance).answers<void>(),
  destroyInstance: command(onInstance).answers<void>(),
  renameInstance: command({
    ...onInstance,
    label: v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters')),
  }).answers<void>(),
  changeBid: command({ ...onInstance, price: BidPrice }).answers<void>(), // dollars per hour, 0.001 to 32
  /** Consents to higher prices that its host asks for (`priceIncreases` in State), or declines them. */
  acceptPriceIncrease: command({ ...onInstance, increase: ServiceId }).answers<void>(),
  refusePriceIncrease: command({ ...onInstance, increase: ServiceId }).answers<void>(),
  /** The service's whole record of it, unknown fields too, secrets masked. */
  instanceRecord: command(onInstance).answers<Record<string, unknown>>(),
}
