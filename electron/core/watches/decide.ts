import type { WatchRequest } from '#contract/automation/watch.ts'
import type { OpenRequest } from '#contract/market/rental.ts'
import { withoutSecrets } from '../renting/secrets.ts'
import type { Watch } from './model.ts'

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
export function withKnownSecrets(request: OpenRequest, known: OpenRequest | undefined): OpenRequest {
  const knownValue = (name: string) => known?.env.find(other => other.secret && other.name === name)?.value
  const env = request.env.map(each =>
    each.secret && each.value === '' ? { ...each, value: knownValue(each.name) ?? '' } : each,
  )
  return { ...request, env, ...withKnownToken(request.registry, known?.registry) }
}

/** A token only belongs to the registry and user that it was entered for. */
function withKnownToken(now: OpenRequest['registry'], known: OpenRequest['registry']) {
  if (now?.token !== '' || now.server !== known?.server || now.user !== known.user) return {}
  return { registry: known }
}
