import * as v from 'valibot'
import { RunRequest } from '#shared/automation/run.ts'
import {
  type PriceSample,
  WatchId,
  type WatchRents,
  WatchRequest,
  type WatchView,
} from '#shared/automation/watch.ts'
import { AccountId, RentalId } from '#shared/ids.ts'
import { catalogueOf, type ListedOffer } from '#shared/market/catalogue.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { Sorter } from '#shared/market/offer-columns.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'
import type { Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { StoredProblem } from '../bridge/problems.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import { withoutSecrets } from './request-secrets.ts'

/** A machine that is no longer news, with its price in micro-dollars per hour. */
const AlertedOffer = v.object({
  machine: v.string(),
  price: v.number(),
  /** When it was last on offer; epoch seconds of the account's time. */
  at: v.number(),
})
export type AlertedOffer = v.InferOutput<typeof AlertedOffer>

/** The run to start on each machine that a watch rents. `into`: an absolute path on this computer. */
export const StoredWatchRun = v.object({
  ...v.omit(RunRequest, ['name', 'into']).entries,
  name: v.string(),
  into: v.optional(v.string()),
})
export type StoredWatchRun = v.InferOutput<typeof StoredWatchRun>

/** A watch as stored. Secret values of its rental request are in the keychain, under its id. */
export const Watch = v.object({
  id: WatchId,
  account: AccountId,
  request: WatchRequest,
  run: v.optional(StoredWatchRun),
  paused: v.boolean(),
  /** It was paused by Berth, and continues to record prices. A watch that the user paused does not search. */
  notesPrices: v.optional(v.boolean()),
  /** Epoch seconds of the account's time. */
  searchedAt: v.optional(v.number()),
  /** Absent before its first result, whose offers are not news. */
  alerted: v.optional(v.array(AlertedOffer)),
  /** The number of machines it has rented. */
  rented: v.number(),
  /** The rental of the next machine, stored before it begins. */
  renting: v.optional(RentalId),
  /** Why it does not rent now, such as a limit. */
  waits: v.optional(StoredProblem),
  /** Failed rentals in a row. */
  failed: v.number(),
})
export type Watch = v.InferOutput<typeof Watch>

/** Whether the market should be searched now; `now` in epoch seconds of the account's time. */
export function isDue(watch: Moving, now: number): boolean {
  const next = nextSearch(watch)
  return next !== undefined && now >= next
}

type Moving = Pick<Watch, 'paused' | 'notesPrices' | 'request'> & { searchedAt?: number }

/** The time of the next search; undefined if there is none. Searches for prices alone are at least an hour apart. */
export function nextSearch({ paused, notesPrices, searchedAt, request }: Moving): number | undefined {
  if (paused && !notesPrices) return undefined
  const every = paused ? Math.max(request.every, 60) : request.every
  return searchedAt === undefined ? 0 : searchedAt + every * 60
}

/** Whether it has rented as many machines as allowed. */
export function isDone({ request, rented, renting }: Pick<Watch, 'request' | 'rented' | 'renting'>): boolean {
  return request.rents !== undefined && renting === undefined && rented >= request.rents.most
}

export function sameSearch(a: WatchRequest, b: WatchRequest): boolean {
  return JSON.stringify(a.search) === JSON.stringify(b.search)
}

/** A watch as requested, replacing `before` where given. It contains no secret values. */
export function savedWatch(
  { id, account, request, run }: Pick<Watch, 'id' | 'account' | 'request' | 'run'>,
  before: Watch | undefined,
): Watch {
  const { rents } = request
  // A watch that is changed after it was done begins again.
  const rented = before && !isDone(before) ? before.rented : 0
  // The new limit may be at or below the number of machines that it rented already.
  const isOver = rents !== undefined && rented >= rents.most
  return {
    id,
    account,
    request: rents ? { ...request, rents: { ...rents, request: withoutSecrets(rents.request) } } : request,
    run: rents && run,
    ...(isOver ? { paused: true, notesPrices: true } : { paused: false }),
    // A new search needs a first result, whose offers are not news.
    alerted: before && sameSearch(before.request, request) ? before.alerted : undefined,
    rented,
    failed: 0,
    renting: before?.renting,
  }
}

/** The page never gets secret values back, so one that it leaves empty keeps its value from `known`. */
export function withKnownSecrets(request: OpenRequest, before: OpenRequest | undefined): OpenRequest {
  const knownValue = (name: string) => before?.env.find(other => other.secret && other.name === name)?.value
  const env = request.env.map(each =>
    each.secret && each.value === '' ? { ...each, value: knownValue(each.name) ?? '' } : each,
  )
  return { ...request, env, ...withKnownToken(request.registry, before?.registry) }
}

/** A token only belongs to the registry and user that it was entered for. */
function withKnownToken(now: OpenRequest['registry'], before: OpenRequest['registry']) {
  if (now?.token !== '' || now.server !== before?.server || now.user !== before.user) return {}
  return { registry: before }
}

/** The last search's result, in memory only. */
export interface LastResult {
  matching: number
  best?: OfferView
  problem?: Problem
}

export function watchView(
  { id, request, run, paused, notesPrices, searchedAt, rented, renting, waits }: Watch,
  last: LastResult | undefined,
): WatchView {
  const { rents, ...rest } = request
  return {
    ...rest,
    rents: rents ? { ...rents, request: withoutSecrets(rents.request) } : undefined,
    run,
    id,
    paused,
    notesPrices: paused && notesPrices === true,
    matching: last?.matching ?? 0,
    rented,
    renting: renting !== undefined,
    waits,
    searchedAt,
    best: last?.best,
    problem: last?.problem,
  }
}

/** The result of a watch's search of the market. */
export interface WatchResult {
  /** Offers that the search finds, regardless of the watch's price limit. */
  found: readonly ListedOffer[]
  /** Offers that match, cheapest first. */
  matching: readonly ListedOffer[]
  /** Offers that are new or clearly cheaper than before, cheapest first. None at the first search. */
  fresh: readonly ListedOffer[]
  /** The new record of known offers. */
  alerted: AlertedOffer[]
}

/** Seconds of absence after which a machine is news again. */
const forgottenAfter = 86_400
/** A machine is news again below this share of its known price. */
const clearlyCheaper = 0.95
/** Only so many of the cheapest matches can be news, as more expensive ones are no finds. */
const cheapest = 200
/** The number of machines remembered; the oldest are dropped. */
const most = 1000

/** The matching offers of a search, and the new ones among them. */
export function resultOf(watch: Watch, offers: readonly OfferView[], now: number): WatchResult {
  const { query, filter } = watch.request.search
  const cheapestFirst = { column: 'price', descending: false } as const
  const found = new Sorter(catalogueOf(offers, query.type))
    .order(cheapestFirst, filter)
    .filter(({ price }) => price !== undefined)
  const matching = found.filter(listed => isWithin(listed, watch.request.rents))
  const heard = watch.alerted ?? []
  // Counted back from the last search: without searches, a machine may have been there all the time.
  const since = (watch.searchedAt ?? now) - forgottenAfter
  const alertedByMachine = new Map(
    heard.filter(({ at }) => at > since).map(alerted => [alerted.machine, alerted]),
  )
  // Of a long list only the cheapest are known, so more expensive machines are not necessarily new.
  const beyond = heard.length < cheapest ? Infinity : Math.max(...heard.map(({ price }) => price))
  const fresh: ListedOffer[] = []
  for (const listed of matching.slice(0, cheapest)) {
    const machine = machineOf(listed.offer)
    const price = listed.price ?? 0
    const before = alertedByMachine.get(machine)
    const isNews = before === undefined ? price < beyond : price < before.price * clearlyCheaper
    if (isNews && watch.alerted) fresh.push(listed)
    alertedByMachine.set(machine, { machine, price: before && !isNews ? before.price : price, at: now })
  }
  const alerted = [...alertedByMachine.values()].sort((a, b) => a.at - b.at).slice(-most)
  return { found, matching, fresh, alerted }
}

/** Whether an offer has a price within the watch's limit. */
function isWithin({ price, offer }: ListedOffer, rents: WatchRents | undefined): boolean {
  if (price === undefined) return false
  const { bid } = rents?.request ?? {}
  if (bid !== undefined) return (offer.minimumBid ?? price) <= micros(bid)
  return rents?.limits.price === undefined || price <= micros(rents.limits.price)
}

/** A machine may be offered several times, with different numbers of its GPUs. */
function machineOf({ id, machineId, gpuCount }: OfferView): string {
  return machineId === undefined ? `offer ${id}` : `${machineId} × ${gpuCount ?? 1}`
}

/** `[at, count, lowest, low, middle, high]`, as tuples to save space. */
const StoredPrices = v.array(
  v.tuple([v.number(), v.number(), v.number(), v.number(), v.number(), v.number()]),
)
export type StoredPrice = v.InferOutput<typeof StoredPrices>[number]

/** Seconds: the first search of each hour is stored, for ninety days. */
const step = 3600
const retention = 90 * 86_400

/** Adds the prices of a search; returns `known` itself if the hour has a sample already or there are no offers. */
export function withPrices(
  known: readonly StoredPrice[],
  at: number,
  prices: readonly Micros[],
): readonly StoredPrice[] {
  const sorted = [...prices].sort((a, b) => a - b)
  const [lowest] = sorted
  const hour = Math.floor(at / step)
  const hourOf = ([then]: StoredPrice) => Math.floor(then / step)
  if (lowest === undefined || known.some(price => hourOf(price) === hour)) return known
  // After time went back, samples from the future are dropped.
  const earlier = known.filter(price => price[0] > at - retention && hourOf(price) < hour)
  const quartile = (share: number) => Math.round(quantile(sorted, share))
  return [...earlier, [Math.round(at), sorted.length, lowest, quartile(0.25), quartile(0.5), quartile(0.75)]]
}

export function priceSamples(prices: readonly StoredPrice[]): PriceSample[] {
  return prices.map(([at, count, lowest, low, middle, high]) => ({ at, count, lowest, low, middle, high }))
}

/** Interpolates linearly between neighbours. */
function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? 0
  const above = sorted[Math.ceil(place)] ?? below
  return below + (above - below) * (place - Math.floor(place))
}

export type WatchPrices = Awaited<ReturnType<typeof openWatchPrices>>

/** The price history of each watch of an account. */
export async function openWatchPrices(context: DocumentPlace) {
  const document = await openDocument(context, 'watch-prices', v.record(v.string(), StoredPrices), {})
  const storedPrices = (watch: string) => document.get()[watch] ?? []
  return {
    of: (watch: string): PriceSample[] => priceSamples(storedPrices(watch)),
    /** Adds a search's prices in micro-dollars per hour; `at` in epoch seconds of the account's time. */
    note(watch: string, at: number, prices: readonly Micros[]): void {
      const after = withPrices(storedPrices(watch), at, prices)
      if (after !== storedPrices(watch)) document.writeSoon(stored => ({ ...stored, [watch]: [...after] }))
    },
    forget: (watch: string): void => document.writeSoon(({ [watch]: _, ...others }) => others),
    flush: document.flush,
  }
}
