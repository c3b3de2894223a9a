import { bidWithin } from '#contract/automation/bid.ts'
import { catalogueOf, type ListedOffer } from '#contract/market/catalogue.ts'
import type { OfferView } from '#contract/market/offer.ts'
import type { FailedMachineView } from '#contract/market/rental-view.ts'
import { Sorter } from '#contract/market/sort.ts'
import type { Problem } from '#contract/problem.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import type { Retrying } from './rental.ts'

/** The offer that a rental tries next. */
export interface OfferChoice {
  offer: OfferView
  /** Its price in micro-dollars per hour. */
  price: Micros
  /** Dollars per hour; just above the lowest that runs there. */
  bid?: number
}

/** The first suitable offer that may be rented now, else the cheapest one with the limit that forbids it. */
export interface BestOffer {
  choice: OfferChoice
  holds?: Problem
}

/** What decides which offers fit a rental with retries. */
type Wanted = Pick<Retrying, 'search' | 'request' | 'retries' | 'tries' | 'first'>

/**
 * The first offer in search order that fits the request, was not tried yet and is not held back by a limit, which may
 * allow cheaper ones; machines that failed before come after all others. Undefined when the market has none.
 */
export function bestOffer(
  rental: Wanted,
  offers: readonly OfferView[],
  failed: Readonly<Record<string, FailedMachineView>>,
  limitVeto: (price: Micros) => Problem | undefined,
): BestOffer | undefined {
  let cheapest: BestOffer | undefined
  for (const choice of fittingOffers(rental, offers, failed)) {
    // A limit that holds back one offer also holds back more expensive ones.
    if (cheapest && choice.price >= cheapest.choice.price) continue
    const holds = limitVeto(choice.price)
    if (!holds) return { choice }
    cheapest = { choice, holds }
  }
  return cheapest
}

const cheapestFirst = { column: 'price', descending: false } as const

/**
 * The offers that match a search, in its order, filtered again as the service may ignore conditions, with `disk` GB of
 * room; machines that failed before come after all others.
 */
export function goodEnough(
  offers: readonly OfferView[],
  { query, filter, order = cheapestFirst }: Retrying['search'],
  disk: number,
  failed: Readonly<Record<string, FailedMachineView>>,
): readonly ListedOffer[] {
  const inOrder = new Sorter(catalogueOf(offers, query.type)).order(order, filter, failed)
  return inOrder.filter(
    ({ offer }) =>
      !(query.verifiedOnly && offer.verified === false) && !(offer.disk !== undefined && offer.disk < disk),
  )
}

/** The offers that a rental may try, in the order in which it tries them. */
export function* fittingOffers(
  { search, request, retries, tries, first }: Wanted,
  offers: readonly OfferView[],
  failed: Readonly<Record<string, FailedMachineView>>,
): Generator<OfferChoice> {
  const machines = new Set(tries.map(({ offer }) => offer.machineId ?? `offer ${offer.id}`))
  const inOrder = goodEnough(offers, search, request.disk, failed)
  const chosen = inOrder.filter(({ offer }) => offer.id === first)
  for (const { offer, price } of [...chosen, ...inOrder.filter(listed => !chosen.includes(listed))]) {
    if (machines.has(offer.machineId ?? `offer ${offer.id}`)) continue
    if (request.bid !== undefined) {
      const bid = bidFor(offer, request.bid)
      if (bid !== undefined) yield { offer, bid, price: micros(bid) }
    } else if (isWithin(price, retries.price)) yield { offer, price }
  }
}

function bidFor({ minimumBid }: OfferView, most: number): number | undefined {
  if (minimumBid === undefined) return most
  const bid = bidWithin(minimumBid, micros(most))
  return bid === undefined ? undefined : bid / 1_000_000
}

/** An offer without a price does not count: nobody is there to be asked. */
function isWithin(price: ListedOffer['price'], most: number | undefined): price is Micros {
  return price !== undefined && (most === undefined || price <= micros(most))
}
