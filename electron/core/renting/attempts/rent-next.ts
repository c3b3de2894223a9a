import type { Problem } from '#contract/problem.ts'
import type { Micros } from '#contract/spending/money.ts'
import { needingPermission } from '#core/app/permission.ts'
import { problemOf } from '#core/app/problems.ts'
import { limitVeto } from '#core/limits/veto.ts'
import { searchNarrowed } from '../offers/find-offers.ts'
import { offerView } from '../offers/offer-view.ts'
import { sentenceFor } from '../rentals/words.ts'
import { type BestOffer, bestOffer, goodEnough } from './best-offer.ts'
import type { AttemptSeries } from './model.ts'
import { notifyOfAttempts } from './notify.ts'
import { type AttemptParts, endSeries } from './outcomes.ts'
import { attemptName, nothingFound } from './words.ts'

/** Milliseconds; the answer to a search of the whole market is large. */
const searchTimeout = 45_000
/** Seconds of the account's time between searches while a limit holds the attempt back. */
const marketForgottenAfter = 60

/** Makes the function that finds the next offer and rents it; false when that has to wait for a poll. */
export function createRentNext(parts: AttemptParts): (series: AttemptSeries) => Promise<boolean> {
  const { context, attempts, hosts, secrets } = parts
  const { account, store, client, ending, now } = context
  /** By series: the price that a limit holds back, in micro-dollars per hour, and when the market had it. */
  const held = new Map<string, { price: Micros; at: number }>()

  /** Why a limit forbids to rent for that many micro-dollars per hour now. */
  function vetoFor(more: Micros): Problem | undefined {
    return limitVeto(store.get().accounts[account], { more }, now())
  }

  function waitForLimit(id: string, problem: Problem, price: Micros): Promise<void> {
    held.set(id, { price, at: held.get(id)?.at ?? now() })
    return wait(parts, id, problem, 'Nothing is rented for now')
  }

  /** The last price found, unless it is so old that a cheaper offer may have come. */
  function priceInMind(id: string): Micros {
    const last = held.get(id)
    if (last && Math.abs(now() - last.at) < marketForgottenAfter) return last.price
    held.delete(id)
    return 0
  }

  /** Resolves with whether the series goes on at once, as after renting. */
  async function searchAndRent({ id, search }: AttemptSeries): Promise<boolean> {
    const asking = { timeout: searchTimeout, signal: ending }
    const found = await needingPermission(
      'misc',
      searchNarrowed(client().offers, search.query, search.filter, asking),
    )
    const request = await secrets.restore({ id }, attempts.get(id).request)
    const offers = found.map(offerView)
    const best = bestOffer(attempts.get(id), offers, hosts.view(), vetoFor)
    const series = attempts.get(id)
    if (ending.aborted) return false
    if (series.unwanted) return true
    const matching = goodEnough(offers, search, series.request.disk, {})
    const problem = !best
      ? nothingFound(series, matching)
      : !request
        ? sentenceFor('secrets_lost')
        : undefined
    if (problem || !best || !request) {
      await endSeries(parts, series, { step: 'failed', problem })
      return false
    }
    if (best.holds) {
      await waitForLimit(id, best.holds, best.choice.price)
      return false
    }
    await rentOffer(parts, series, request, best.choice)
    return true
  }

  return async series => {
    const { id } = series
    // The answer is large, so the market is not searched at every poll while a limit holds everything back.
    const price = priceInMind(id)
    const veto = vetoFor(price)
    if (veto) {
      await waitForLimit(id, veto, price)
      return false
    }
    held.delete(id)
    try {
      return await searchAndRent(series)
    } catch (error) {
      await wait(parts, id, problemOf(error), 'Waits for the service')
      return false
    }
  }
}

async function rentOffer(
  { context, attempts, rentals }: AttemptParts,
  { id, search, limits }: AttemptSeries,
  request: AttemptSeries['request'],
  { offer, bid }: BestOffer['choice'],
): Promise<void> {
  const wanted = { ...request, offer: offer.id, ...(bid === undefined ? {} : { bid }) }
  await rentals.rent(wanted, offer, { owned: { owner: id, deadline: limits.deadline }, search })
  await attempts.update(id, { problem: undefined })
  const series = attempts.get(id)
  const text = `Attempt ${series.attempts.length + 1} of ${limits.attempts}: ${attemptName(offer)}`
  notifyOfAttempts(context, { series, text, detail: `Offer ${offer.id}` })
}

/** Shows the reason for waiting, once in Activity; the next poll tries again. */
async function wait(
  { context, attempts }: AttemptParts,
  id: string,
  problem: Problem,
  text: string,
): Promise<void> {
  const { code } = attempts.get(id).problem ?? {}
  if (context.ending.aborted) return
  await attempts.update(id, { problem })
  const series = attempts.get(id)
  if (code !== problem.code) notifyOfAttempts(context, { series, text, problem })
}
