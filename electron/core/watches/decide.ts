import type { WatchRequest } from '../../contract/automation/watch.ts'
import type { OpenRequest } from '../../contract/market/rental.ts'
import { withoutSecrets } from '../renting/rentals/secrets.ts'
import type { Watch } from './model.ts'

/** Whether the market is to be searched; `now` in epoch seconds of the account's time. */
export function isDue(watch: Moving, now: number): boolean {
  const next = nextSearch(watch)
  return next !== undefined && now >= next
}

type Moving = Pick<Watch, 'paused' | 'notesPrices' | 'request'> & { searchedAt?: number }

/** When it is searched next; undefined where it is not. For the prices alone, no more than one search an hour. */
export function nextSearch({ paused, notesPrices, searchedAt, request }: Moving): number | undefined {
  if (paused && !notesPrices) return undefined
  const every = paused ? Math.max(request.every, 60) : request.every
  return searchedAt === undefined ? 0 : searchedAt + every * 60
}

/** Whether it has rented as many as it may. */
export function isDone({ request, rented, renting }: Pick<Watch, 'request' | 'rented' | 'renting'>): boolean {
  return request.rents !== undefined && renting === undefined && rented >= request.rents.most
}

export function sameSearch(a: WatchRequest, b: WatchRequest): boolean {
  return JSON.stringify(a.search) === JSON.stringify(b.search)
}

/** A watch as it was asked for, in the place of `before` where that is given. No secret value is in it. */
export function savedWatch(
  { id, account, request, run }: Pick<Watch, 'id' | 'account' | 'request' | 'run'>,
  before: Watch | undefined,
): Watch {
  const { rents } = request
  // Changed after its work is done, it begins anew.
  const rented = before && !isDone(before) ? before.rented : 0
  // With fewer machines than it has rented already, there is nothing left to do.
  const isOver = rents !== undefined && rented >= rents.most
  return {
    id,
    account,
    request: rents ? { ...request, rents: { ...rents, request: withoutSecrets(rents.request) } } : request,
    run: rents && run,
    ...(isOver ? { paused: true, notesPrices: true } : { paused: false }),
    // Of another search, all that is there at its first search is no news.
    alerted: before && sameSearch(before.request, request) ? before.alerted : undefined,
    rented,
    failed: 0,
    renting: before?.renting,
  }
}

/** The page never gets a secret value back: one that it leaves empty stays what it was, as `known`. */
export function withKnownSecrets(request: OpenRequest, known: OpenRequest | undefined): OpenRequest {
  const knownValue = (name: string) => known?.env.find(other => other.secret && other.name === name)?.value
  const env = request.env.map(each =>
    each.secret && each.value === '' ? { ...each, value: knownValue(each.name) ?? '' } : each,
  )
  return { ...request, env, ...withKnownToken(request.registry, known?.registry) }
}

/** A token belongs to the registry and the user that it was given for. */
function withKnownToken(now: OpenRequest['registry'], known: OpenRequest['registry']) {
  if (now?.token !== '' || now.server !== known?.server || now.user !== known.user) return {}
  return { registry: known }
}
