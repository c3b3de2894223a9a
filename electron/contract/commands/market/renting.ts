import * as v from 'valibot'
import { RunRequest } from '../../automation/run.ts'
import { InstanceId, RentalId } from '../../ids.ts'
import { SavedQuery } from '../../market/offer.ts'
import { RentRequest, type Replacement } from '../../market/rental.ts'
import { SearchPart } from '../../market/search-part.ts'
import { account, command, onInstance } from '../command.ts'

const onRental = { account, rental: RentalId }
/** What the user gives up of what a replacement would have to meet. */
const without = v.optional(v.pipe(v.array(SearchPart), v.maxLength(SearchPart.options.length)))

/** Renting, and what becomes of it. */
export const rentingCommands = {
  /** Answers once the intent is on disk; the rental goes on by itself and is told in State. With `replaces`, that instance is destroyed first. */
  rent: command({
    account,
    request: RentRequest,
    replaces: v.optional(InstanceId),
    /** What the offer was found with: a machine that replaces it must meet it, too. */
    search: v.optional(SavedQuery),
    /** What is run there once it can be entered. */
    run: v.optional(RunRequest),
  }).answers<string>(),
  /** Ends a rental under way; an instance it already has is destroyed. */
  cancelRental: command(onRental).answers<void>(),
  /** For a late rental: another deadline's time. */
  waitLonger: command(onRental).answers<void>(),
  /** For an unclear rental: which instance is the one, or none. */
  resolveRental: command({ ...onRental, instance: v.nullable(InstanceId) }).answers<void>(),
  /** Takes a rental that has ended off the list. */
  dismissRental: command(onRental).answers<void>(),
  /** The best offer now that is as good as the machine this instance is on, and how it was rented. */
  findReplacement: command({ ...onInstance, without }).answers<Replacement>(),
  /** The same for an earlier rental, whatever became of its instance. */
  findAgain: command({ ...onRental, without }).answers<Replacement>(),
}
