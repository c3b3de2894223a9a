import * as v from 'valibot'
import { RunRequest } from '#shared/automation/run.ts'
import { type PriceSample, WatchId, WatchRequest } from '#shared/automation/watch.ts'
import { name, ServiceId, text } from '#shared/fields.ts'
import { InstanceId, RentalId } from '#shared/ids.ts'
import { OfferFilter, OfferQuery, type OffersAnswer, SavedQuery } from '#shared/market/offer-query.ts'
import { OpenRequest, RegistryLogin, RentalSearch, RentRequest } from '#shared/market/rent-request.ts'
import { RetryLimits } from '#shared/market/rental-bounds.ts'
import type { Replacement } from '#shared/market/rental-view.ts'
import { SearchPart } from '#shared/market/search-part.ts'
import { TemplateFields, TemplateFilter, type TemplateView } from '#shared/market/template.ts'
import type { Micros } from '#shared/spending/money.ts'
import { account, command, onInstance } from './command.ts'

/** Finding machines. */
export const offerCommands = {
  /**
   * `filter` narrows the request if the service lists only some offers at a time. The answer is not filtered by it.
   * Answers up to `maxAge` milliseconds old are reused.
   */
  searchOffers: command({
    account,
    query: OfferQuery,
    filter: v.optional(OfferFilter),
    maxAge: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(60_000))),
  }).answers<OffersAnswer>(),
  /** The bid that the service recommends for the bundle of an offer, by its id. Throws `not_supported` where it has none. */
  recommendedBid: command({ account, id: ServiceId }).answers<Micros | undefined>(),
  /** The tags of an image, by its name without one; none where they can't be read. `registry`: the login to its registry. */
  imageTags: command({ account, image: text(1024), registry: v.optional(RegistryLogin) }).answers<
    readonly string[]
  >(),
  /** Whether a registry takes a login; `unknown` where that can't be checked. */
  checkRegistry: command({ account, registry: RegistryLogin }).answers<'taken' | 'refused' | 'unknown'>(),
  saveSearch: command({ name, search: SavedQuery }).answers<string>(),
  deleteSearch: command({ id: v.pipe(v.string(), v.maxLength(64)) }).answers<void>(),
}

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
    /** A command line rents: its limits are no model for the page's next rental. */
    byCommand: v.optional(v.literal(true)),
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

const onWatch = { account, watch: WatchId }

/** Repeated searches. */
export const watchCommands = {
  /**
   * Creates a watch or changes `watch`, and searches at once; answers its id. `run` is for each machine that it rents;
   * if it has no folder for downloads, the earlier one stays.
   */
  saveWatch: command({
    account,
    watch: v.optional(WatchId),
    request: WatchRequest,
    run: v.optional(RunRequest),
  }).answers<string>(),
  pauseWatch: command({ ...onWatch, paused: v.boolean() }).answers<void>(),
  /** Its instances stay. */
  deleteWatch: command(onWatch).answers<void>(),
  /** Searches the market now; answers after that. */
  searchWatch: command(onWatch).answers<void>(),
  /** The prices of its offers, hourly samples of the last 90 days, oldest first. */
  watchPrices: command(onWatch).answers<readonly PriceSample[]>(),
}

/** Stored launch configurations (sections 2.3 and 4.5). */
export const templateCommands = {
  searchTemplates: command({ account, filters: v.pipe(v.array(TemplateFilter), v.maxLength(50)) }).answers<
    readonly TemplateView[]
  >(),
  createTemplate: command({ account, fields: TemplateFields }).answers<{ id: number; hash: string }>(),
  /** Only the changed fields. Answers the new hash, which replaces the old one in remembered rentals too. */
  editTemplate: command({ account, hash: text(256), changes: v.partial(TemplateFields) }).answers<{
    hash: string
  }>(),
  deleteTemplate: command({ account, id: ServiceId }).answers<void>(),
}
