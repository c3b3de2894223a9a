import * as v from 'valibot'
import { RunWish } from '../../automation/run.ts'
import { InstanceId, RentalId } from '../../ids.ts'
import { RentRequest, type Replacement } from '../../market/rental.ts'
import { account, command, onInstance } from '../command.ts'

const onRental = { account, rental: RentalId }

/** Renting, and what becomes of it. */
export const rentingCommands = {
  /** Answers once the intent is on disk; the rental goes on by itself and is told in State. With `replaces`, that instance is destroyed first. */
  rent: command({
    account,
    request: RentRequest,
    replaces: v.optional(InstanceId),
    /** What is run there once it can be entered. */
    run: v.optional(RunWish),
  }).answers<string>(),
  /** Ends a rental under way; an instance it already has is destroyed. */
  cancelRental: command(onRental).answers<void>(),
  /** For a late rental: another deadline's time. */
  waitLonger: command(onRental).answers<void>(),
  /** For an unclear rental: which instance is the one, or none. */
  settleRental: command({ ...onRental, instance: v.nullable(InstanceId) }).answers<void>(),
  /** Takes a rental that has ended off the list. */
  dismissRental: command(onRental).answers<void>(),
  /** The best offer now like the machine this instance is on, and how it was rented, to fill the dialog with. */
  findReplacement: command(onInstance).answers<Replacement>(),
  /** The same for an earlier rental, whatever became of its instance. */
  findAgain: command(onRental).answers<Replacement>(),
}
