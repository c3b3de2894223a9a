import * as v from 'valibot'
import { RunRequest } from '#contract/automation/run.ts'
import { InstanceId, RentalId } from '#contract/ids.ts'
import { SavedQuery } from '#contract/market/offer.ts'
import { OpenRequest, RentalSearch, RentRequest, RetryLimits } from '#contract/market/rental.ts'
import type { Replacement } from '#contract/market/rental-view.ts'
import { SearchPart } from '#contract/market/search-part.ts'
import { account, command, onInstance, ServiceId } from '../command.ts'

const onRental = { account, rental: RentalId }
/** Conditions for a replacement that the user drops. */
const without = v.optional(v.pipe(v.array(SearchPart), v.maxLength(SearchPart.options.length)))

/** Rentals. */
export const rentingCommands = {
  /** Answers its id once it is on disk; its progress is in State. `replaces`: an instance to destroy first. */
  rent: command({
    account,
    request: RentRequest,
    replaces: v.optional(InstanceId),
    /** The search that found the offer, which a replacement must meet too. */
    search: v.optional(SavedQuery),
    /** Runs on the instance once it is ready. */
    run: v.optional(RunRequest),
  }).answers<string>(),
  /** Rents one machine after another until one can be used. Answers its id once it is on disk. */
  rentWithRetries: command({
    account,
    search: RentalSearch,
    /** Its bid, if any, is the highest: each try bids just above the lowest that runs there. */
    request: OpenRequest,
    limits: RetryLimits,
    /** Runs on the machine that is kept. */
    run: v.optional(RunRequest),
  }).answers<string>(),
  /** Ends a rental in progress, and destroys its instance. */
  cancelRental: command(onRental).answers<void>(),
  /** Gives a late rental its deadline's time again. */
  waitLonger: command(onRental).answers<void>(),
  /** Tells an unclear rental which instance belongs to it, or that none does. */
  resolveRental: command({ ...onRental, instance: v.nullable(InstanceId) }).answers<void>(),
  /** Removes an ended rental from the list. */
  dismissRental: command(onRental).answers<void>(),
  /** Forgets that a machine failed. */
  forgiveMachine: command({ account, machine: ServiceId }).answers<void>(),
  /** The best present offer that is as good as this instance's machine, and the instance's rental request. */
  findReplacement: command({ ...onInstance, without }).answers<Replacement>(),
  /** The same for an earlier rental, even if its instance is gone. */
  findAgain: command({ ...onRental, without }).answers<Replacement>(),
}
