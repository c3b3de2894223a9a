import * as v from 'valibot'
import { UndoableAction } from '#contract/automation/undoable.ts'
import { NoteTags, NoteText } from '#contract/instance/note.ts'
import { BidPrice } from '#contract/market/rental.ts'
import { command, onInstance, ServiceId } from '../command.ts'

/** Actions on an instance. */
export const instanceCommands = {
  /** Sends the action in five seconds (`undoable` in State); answers once it was sent or undone. */
  actSoon: command({ ...onInstance, action: UndoableAction }).answers<void>(),
  /** Cancels an action of `actSoon` that was not sent yet; throws `not_undone` if there is none. */
  undoAction: command(onInstance).answers<void>(),
  /** These are sent at once. */
  stopInstance: command(onInstance).answers<void>(),
  startInstance: command(onInstance).answers<void>(),
  destroyInstance: command(onInstance).answers<void>(),
  renameInstance: command({
    ...onInstance,
    label: v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters')),
  }).answers<void>(),
  /** Keeps the user's own words about it, here alone; empty ones are removed. */
  noteInstance: command({ ...onInstance, note: NoteText, tags: NoteTags }).answers<void>(),
  changeBid: command({ ...onInstance, price: BidPrice }).answers<void>(), // dollars per hour, 0.001 to 32
  /** Accepts or refuses its host's request for higher prices (`priceIncreases` in State). */
  acceptPriceIncrease: command({ ...onInstance, increase: ServiceId }).answers<void>(),
  refusePriceIncrease: command({ ...onInstance, increase: ServiceId }).answers<void>(),
  /** The service's whole record, unknown fields included, secrets masked. */
  instanceRecord: command(onInstance).answers<Record<string, unknown>>(),
}
