import type { OfferView } from '#contract/market/offer.ts'
import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { lackedBy } from '../app/permission.ts'
import { problemOf } from '../app/problems.ts'
import { findOffers } from '../renting/offers/find-offers.ts'
import type { Collection } from '../storage/collection.ts'
import { matchAlert } from './alerts.ts'
import { sameSearch } from './decide.ts'
import { resultOf } from './matches.ts'
import type { Watch } from './model.ts'
import type { WatchPrices } from './prices.ts'
import type { WatchRenting } from './renting.ts'
import type { LastResult } from './view.ts'
import { watchAlerts } from './watch-alerts.ts'

/** What a search works with, apart from the account. */
interface SearchParts {
  watches: Pick<Collection<Watch, string>, 'find' | 'get' | 'update'>
  prices: WatchPrices
  renting: WatchRenting
  lastResults: ReadonlyMap<string, LastResult>
  /** Shows a search's result. */
  say: (id: string, last: LastResult) => void
}

/** Searches the market for a watch, and alerts or rents. One search per watch at a time; never rejects. */
export function createMarketSearch(
  context: AccountContext,
  { watches, prices, renting, lastResults, say }: SearchParts,
): (id: string) => Promise<void> {
  const { client, ending, now } = context
  const { find, get, update } = watches
  const { alert, withdraw } = watchAlerts(context)
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
        if (current && sameSearch(current.request, request)) return seen(id, offers)
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
  async function seen(id: string, offers: readonly OfferView[]): Promise<void> {
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
    if (!best) withdraw(watch)
    if (find(id)?.paused !== false) return
    if (watch.request.rents) return best ? renting.next(id, best.price ?? 0) : renting.none(id)
    const match = matchAlert(watch, { fresh, matching })
    if (match) alert(match)
  }

  return search
}
