import * as v from 'valibot'
import { RunRequest } from '#shared/automation/run.ts'
import { WatchId, WatchRequest, type WatchView } from '#shared/automation/watch.ts'
import { AccountId, RentalId } from '#shared/ids.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'
import type { Problem } from '#shared/problem.ts'
import { StoredProblem } from '../bridge/problems.ts'
import { withoutSecrets } from '../market/request-secrets.ts'

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
