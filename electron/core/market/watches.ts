import type { PriceSample, WatchRequest } from '#shared/automation/watch.ts'
import { rate } from '#shared/format/money.ts'
import { count } from '#shared/format/size.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { tellerOf } from '../alerts/notifications.ts'
import { lackedBy, problemOf } from '../bridge/problems.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { findOffers } from './find-offers.ts'
import { hasSecrets, type RequestSecrets, requestSecrets } from './request-secrets.ts'
import {
  isDone,
  isDue,
  type LastResult,
  nextSearch,
  openWatchPrices,
  resultOf,
  type StoredWatchRun,
  sameSearch,
  savedWatch,
  Watch,
  type WatchPrices,
  type WatchResult,
  watchView,
  withKnownSecrets,
} from './watch.ts'

const mostWatches = 50

/** Renting by watches. */
export interface WatchRenting {
  /** Call when an offer matches; `price` in micro-dollars per hour. */
  next(id: string, price: Micros): Promise<void>
  /** Call when nothing matches: clears the reason for waiting. */
  none(id: string): Promise<void>
  /** Checks the rental of a watch's machine. */
  check(id: string): Promise<void>
}

/** Dependencies for renting by watches. */
export interface WatchRentingParts {
  watches: Collection<Watch, string>
  secrets: RequestSecrets
  /** Shows why a watch was stopped. */
  showProblem(id: string, problem: Problem): void
}

/** The repeated market searches of one account. They rent only where the user asked for that. */
export async function openWatches(
  context: AccountContext,
  rentingOf: (parts: WatchRentingParts) => WatchRenting,
) {
  const { account, now } = context
  const secrets = requestSecrets(context.keychain)
  const lastResults = new Map<string, LastResult>()
  const [watches, prices] = await Promise.all([
    openCollection(context, {
      name: 'watches',
      schema: Watch,
      key: ({ id }) => id,
      missing: { code: 'no_such_watch', message: 'That watch no longer exists.' },
      view: all => ({
        watches: Object.fromEntries(
          all.map(watch => [watch.id, watchView(watch, lastResults.get(watch.id))]),
        ),
      }),
    }),
    openWatchPrices(context),
  ])
  const { all, get, update } = watches
  const { note, withdraw } = tellerOf(context)

  function say(id: string, last: LastResult): void {
    lastResults.set(id, last)
    watches.show()
  }

  const renting = rentingOf({
    watches,
    secrets,
    showProblem: (id, problem) => say(id, { matching: 0, ...lastResults.get(id), problem }),
  })
  const search = createMarketSearch(context, { watches, prices, renting, lastResults, say })

  /** The request with the secret values that the page does not have. */
  async function withSecrets(request: WatchRequest, before: Watch | undefined): Promise<WatchRequest> {
    if (!request.rents) return request
    const { rents } = before?.request ?? {}
    const known = before && rents && (await secrets.restore(before.id, rents.request))
    return {
      ...request,
      rents: { ...request.rents, request: withKnownSecrets(request.rents.request, known) },
    }
  }

  /** Entries that cannot be deleted now are deleted at the next start. */
  async function forgetSecrets(watch: Watch | undefined): Promise<void> {
    const request = watch?.request.rents?.request
    if (watch && request) await secrets.forget({ id: watch.id, request }).catch(() => undefined)
  }

  return {
    /** `run` is started on each machine that it rents. */
    async save(given: string | undefined, request: WatchRequest, run?: StoredWatchRun): Promise<string> {
      if (given === undefined && all().length >= mostWatches) throw new BerthError(tooMany)
      const before = given === undefined ? undefined : get(given)
      const id = given ?? `w${context.newId()}`
      const whole = await withSecrets(request, before)
      const openRequest = whole.rents?.request
      if (openRequest) await secrets.keep(id, openRequest)
      await watches.add(savedWatch({ id, account, request: whole, run }, before))
      if (!openRequest || !hasSecrets(openRequest)) await forgetSecrets(before)
      if (before && !sameSearch(before.request, request)) prices.forget(id)
      note('user', `${before ? 'Changed' : 'Started'} the watch “${request.name}”`)
      watches.show()
      void search(id)
      return id
    },
    async pause(id: string, paused: boolean): Promise<void> {
      const watch = get(id)
      const { request } = watch
      // Continuing a watch that is done starts over.
      const again = isDone(watch)
      const going = { failed: 0, rented: again ? 0 : watch.rented }
      await update(id, { paused, notesPrices: undefined, waits: undefined, ...(paused ? {} : going) })
      note('user', `${paused ? 'Paused' : 'Resumed'} the watch “${request.name}”`)
      if (!paused) void search(id)
    },
    async delete(id: string): Promise<void> {
      const watch = get(id)
      await watches.remove(id)
      await forgetSecrets(watch)
      prices.forget(id)
      lastResults.delete(id)
      withdraw(watchAlertId(watch))
      note('user', `Deleted the watch “${watch.request.name}”`)
      watches.show()
    },
    /** Searches the market now. Never rejects; errors are in the view. */
    search,
    prices: (id: string): PriceSample[] => prices.of(get(id).id),
    onPoll(): void {
      for (const watch of all()) {
        void renting.check(watch.id)
        if (isDue(watch, now())) void search(watch.id)
      }
    },
    dueAt(after: number): number {
      const moments = all().flatMap(watch => nextSearch(watch) ?? [])
      return Math.min(...moments.filter(moment => moment > after))
    },
    show: watches.show,
    secretOwners: () => all().flatMap(({ id, request }) => (request.rents ? id : [])),
    async flush() {
      await Promise.all([watches.flush(), prices.flush()])
    },
  }
}

const tooMany: Problem = {
  code: 'too_many_watches',
  message: `There are ${mostWatches} watches already.`,
  advice: 'Delete one you no longer need.',
}

/** Dependencies of a search, besides the account. */
interface SearchParts {
  watches: Pick<Collection<Watch, string>, 'find' | 'get' | 'update'>
  prices: WatchPrices
  renting: WatchRenting
  lastResults: ReadonlyMap<string, LastResult>
  /** Shows a search's result. */
  say: (id: string, last: LastResult) => void
}

/** Searches the market for a watch, and alerts or rents. One search per watch at a time; never rejects. */
function createMarketSearch(
  context: AccountContext,
  { watches, prices, renting, lastResults, say }: SearchParts,
): (id: string) => Promise<void> {
  const { client, ending, now } = context
  const { find, get, update } = watches
  const { alert, withdraw } = tellerOf(context)
  const searching = new Map<string, Promise<void>>()

  function search(id: string): Promise<void> {
    const already = searching.get(id)
    if (already) return already
    const { request } = get(id)
    const { query, filter } = request.search
    // The page's search: a service that truncates its lists is asked again with the filter.
    const running = findOffers(client().offers, query, filter, { signal: ending })
      // After a change of the filter meanwhile, the result is useless and the search is repeated.
      .then(({ offers }) => {
        const current = find(id)
        if (current && sameSearch(current.request, request)) return onOffers(id, offers)
        searching.delete(id)
        return current ? search(id) : undefined
      })
      .catch(error => failed(id, lackedBy(error, 'misc') ?? problemOf(error)))
      .finally(() => {
        if (searching.get(id) === running) searching.delete(id)
      })
    searching.set(id, running)
    return running
  }

  /** Whether it was paused by Berth, and searches for prices alone. */
  function isAside(id: string): boolean {
    const watch = find(id)
    return watch?.paused === true && watch.notesPrices === true
  }

  async function failed(id: string, problem: Problem): Promise<void> {
    if (ending.aborted || !find(id)) return
    // Keeps the reason for the pause visible.
    if (!isAside(id)) say(id, { matching: 0, ...lastResults.get(id), problem })
    await update(id, { searchedAt: now() })
  }

  /** Known offers are stored before the alert: after a kill, an alert is missed rather than repeated. */
  async function onOffers(id: string, offers: readonly OfferView[]): Promise<void> {
    const watch = find(id)
    if (ending.aborted || !watch) return
    const at = now()
    const { found, matching, fresh, alerted } = resultOf(watch, offers, at)
    const [best] = matching
    const problem = isAside(id) ? lastResults.get(id)?.problem : undefined
    say(id, { matching: matching.length, best: best?.offer, problem })
    const seenPrices = found.map(({ price }) => price ?? 0)
    prices.note(id, at, seenPrices)
    // Offers that appear during a pause are news when it continues.
    await update(id, { searchedAt: at, alerted: watch.paused ? watch.alerted : alerted })
    if (!best) withdraw(watchAlertId(watch))
    if (find(id)?.paused !== false) return
    if (watch.request.rents) return best ? renting.next(id, best.price ?? 0) : renting.none(id)
    const match = matchAlert(watch, { fresh, matching })
    if (match) alert(match)
  }

  return search
}

/** One id per watch, so that a later alert replaces the earlier one. */
function watchAlertId({ account, id }: Pick<Watch, 'account' | 'id'>): string {
  return `${account}/watch/${id}`
}

/** The alert for new offers, which leads to renting the cheapest one. Undefined when there are none. */
export function matchAlert(
  watch: Watch,
  { fresh, matching }: Pick<WatchResult, 'fresh' | 'matching'>,
): Alert | undefined {
  const [best] = fresh
  if (!best) return undefined
  const { gpuName, gpuCount, location } = best.offer
  const { query, filter } = watch.request.search
  return alertOf('offersFound', {
    id: watchAlertId(watch),
    title: `${gpuCount && gpuCount > 1 ? `${gpuCount} × ` : ''}${gpuName ?? 'A machine'} at ${rate(best.price ?? 0)}`,
    body: `${location ? `${location}. ` : ''}“${watch.request.name}”: ${count(fresh.length)} new, ${count(matching.length)} match${matching.length === 1 ? 'es' : ''} now.`,
    place: { screen: 'offers', search: { query, filter }, offer: best.offer.id },
  })
}

/** The alert for a renting watch that is done or stopped. */
export function watchDoneAlert(watch: Watch, title: string, body: string): Alert {
  return alertOf('watchDone', { id: watchAlertId(watch), title, body })
}
