import type { AccountContext } from '#core/account-context.ts'
import { problemOf } from '#core/bridge/problems.ts'
import type { Ledger } from '#core/ledger/perform.ts'
import { blockingAccountLimit } from '#core/limits/may-start.ts'
import { searchNarrowed } from '#core/market/find-offers.ts'
import { offerView } from '#core/market/offer-view.ts'
import type { RequestSecrets } from '#core/market/request-secrets.ts'
import { bidWithin } from '#shared/automation/bid.ts'
import { catalogueOf, type ListedOffer } from '#shared/market/catalogue.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { Sorter } from '#shared/market/offer-order.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'
import type { FailedMachineView } from '#shared/market/rental-view.ts'
import type { Problem } from '#shared/problem.ts'
import { boundsOf } from '#shared/project/bounds.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { needingPermission } from '../bridge/problems.ts'
import type { FailedMachines } from './failed-machines.ts'
import { attemptedOfferName, nothingFound, sentenceFor, tellOfRetries } from './messages.ts'
import type { RentalMove } from './next-move.ts'
import {
  type Attempt,
  isRetrying,
  knownInstances,
  limitsLeftOf,
  type Retrying,
  type StoredRentals,
} from './rental.ts'

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

/** Criteria for the offers of a rental with retries. */
type Wanted = Pick<Retrying, 'search' | 'request' | 'retries' | 'attempts' | 'first'>

/**
 * The first offer in search order that fits the request, was not tried yet and is not held back by a limit, which may
 * allow cheaper ones; machines that failed before come after all others. Undefined when the market has none.
 */
export function bestOffer(
  rental: Wanted,
  offers: readonly OfferView[],
  failed: Readonly<Record<string, FailedMachineView>>,
  blockingAccountLimit: (price: Micros) => Problem | undefined,
): BestOffer | undefined {
  let cheapest: BestOffer | undefined
  for (const choice of fittingOffers(rental, offers, failed)) {
    // A limit that holds back one offer also holds back more expensive ones.
    if (cheapest && choice.price >= cheapest.choice.price) continue
    const holds = blockingAccountLimit(choice.price)
    if (!holds) return { choice }
    cheapest = { choice, holds }
  }
  return cheapest
}

const cheapestFirst = { column: 'price', descending: false } as const

/**
 * The offers that match a search, in its order, filtered again as the service may ignore conditions, with room for the
 * request's disk and its volume; machines that failed before come after all others.
 */
export function goodEnough(
  offers: readonly OfferView[],
  { query, filter, order = cheapestFirst }: Retrying['search'],
  request: Pick<OpenRequest, 'disk' | 'volume' | 'overlay'>,
  failed: Readonly<Record<string, FailedMachineView>>,
): readonly ListedOffer[] {
  const inOrder = new Sorter(catalogueOf(offers, query.type)).order(order, filter, failed)
  return inOrder.filter(
    ({ offer }) =>
      !(query.verifiedOnly && offer.verified === false) &&
      !(offer.disk !== undefined && offer.disk < request.disk) &&
      takesVolume(offer, request.volume) &&
      (request.overlay === undefined || offer.clusterId === request.overlay.cluster),
  )
}

/** Whether a volume can be mounted on the offer's machine: an existing one, or a new one for which it has room. */
function takesVolume(offer: OfferView, volume: OpenRequest['volume']): boolean {
  if (!volume) return true
  if (!volume.create) return volume.machine === undefined || offer.machineId === volume.machine
  if (volume.volume !== undefined) return true
  return offer.volumeOffer !== undefined && (offer.volumeRoom ?? volume.size) >= volume.size
}

/** The offers that a rental may try, in the order in which it tries them. */
export function* fittingOffers(
  { search, request, retries, attempts, first }: Wanted,
  offers: readonly OfferView[],
  failed: Readonly<Record<string, FailedMachineView>>,
): Generator<OfferChoice> {
  const machines = new Set(attempts.map(({ offer }) => offer.machineId ?? `offer ${offer.id}`))
  const inOrder = goodEnough(offers, search, request, failed)
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

/** An offer without a price does not count, as nobody can be asked. */
function isWithin(price: ListedOffer['price'], most: number | undefined): price is Micros {
  return price !== undefined && (most === undefined || price <= micros(most))
}

/** Milliseconds; the answer to a search of the whole market is large. */
const searchTimeout = 45_000
/** Seconds of the account's time between searches while a limit holds the next attempt back. */
const marketForgottenAfter = 60

/** Dependencies of rentals with retries. */
export interface RetryParts {
  context: AccountContext
  rentals: StoredRentals
  hosts: FailedMachines
  secrets: RequestSecrets
  /** Who pays, and whether they may. */
  ledger: Pick<Ledger, 'refusal' | 'need'>
  /** Requests an attempt's instance. */
  request(mark: string): void
  /** Destroys the instance that an attempt created or is still creating. */
  discard(mark: string): Promise<void>
}

/** Whether the rental continues at once, waits for a poll, or ends. */
type Next = boolean | Extract<RentalMove, { do: 'end' }>

/** Makes the function that finds the next offer and rents it. */
export function createRentNext(parts: RetryParts): (rental: Retrying) => Promise<Next> {
  const { context, rentals, hosts, secrets, ledger } = parts
  const { account, store, client, quitting, now } = context
  /** By rental: the price that a limit holds back, in micro-dollars per hour, and when the market had it. */
  const heldPrices = new Map<string, { price: Micros; at: number }>()

  /** Why a limit forbids to rent for that many micro-dollars per hour now. */
  function vetoFor(more: Micros): Problem | undefined {
    return blockingAccountLimit(store.get().accounts[account], { more }, now())
  }

  function waitForLimit(id: string, problem: Problem, price: Micros): Promise<void> {
    heldPrices.set(id, { price, at: heldPrices.get(id)?.at ?? now() })
    return wait(parts, id, problem, 'Renting is on hold')
  }

  /** The last price found, unless it is so old that a cheaper offer may have come. */
  function priceInMind(id: string): Micros {
    const last = heldPrices.get(id)
    if (last && Math.abs(now() - last.at) < marketForgottenAfter) return last.price
    heldPrices.delete(id)
    return 0
  }

  async function searchAndRent({ id, search }: Retrying): Promise<Next> {
    const asking = { timeout: searchTimeout, signal: quitting }
    const found = await needingPermission(
      'misc',
      searchNarrowed(client().offers, search.query, search.filter, asking),
    )
    const request = await secrets.restore(id, rentals.get(id).request)
    const offers = found.map(offerView)
    const rental = rentals.get(id)
    if (quitting.aborted || !isRetrying(rental)) return false
    if (rental.unwanted) return true
    const bounds = boundsOf(limitsLeftOf(rental))
    const overCap = (price: Micros) => ledger.refusal(rental.by, ledger.need(price, bounds))
    const best = bestOffer(rental, offers, hosts.avoided(), price => overCap(price) ?? vetoFor(price))
    const problem = !best
      ? nothingFound(rental, goodEnough(offers, search, rental.request, {}))
      : !request
        ? sentenceFor('secrets_lost')
        : undefined
    if (problem || !best || !request) return { do: 'end', step: 'failed', problem }
    // A cap is no reason to wait: whoever asked hears of it, and may ask again.
    if (best.holds?.refusal) return { do: 'end', step: 'failed', problem: best.holds }
    if (best.holds) {
      await waitForLimit(id, best.holds, best.choice.price)
      return false
    }
    await tryOffer(parts, rental, best.choice)
    return true
  }

  return async rental => {
    const { id } = rental
    // The answer is large, so the market is not searched at every poll while a limit holds everything back.
    const price = priceInMind(id)
    const veto = vetoFor(price)
    if (veto) {
      await waitForLimit(id, veto, price)
      return false
    }
    heldPrices.delete(id)
    try {
      return await searchAndRent(rental)
    } catch (error) {
      await wait(parts, id, problemOf(error), 'Waiting for the service')
      return false
    }
  }
}

async function tryOffer(
  { context, rentals, request }: RetryParts,
  { id, retries, attempts }: Retrying,
  { offer, bid }: OfferChoice,
): Promise<void> {
  const mark = `r${context.newId()}`
  const next: Attempt = { ...newAttempt(context, mark, offer), bid, deadline: retries.deadline }
  await rentals.intend(id, rental => ({
    ...rental,
    problem: undefined,
    attempts: [...rental.attempts, next],
  }))
  const rental = rentals.get(id)
  const text = `Attempt ${attempts.length + 1} of ${retries.attempts}: ${attemptedOfferName(offer)}`
  if (isRetrying(rental)) tellOfRetries(context, rental, { text, detail: `Offer ${offer.id}` })
  request(mark)
}

/** An attempt that is not requested yet. */
export function newAttempt(
  context: AccountContext,
  mark: string,
  offer: Partial<OfferView> & Pick<OfferView, 'id'>,
): Omit<Attempt, 'deadline'> {
  const { id, gpuName, gpuCount, gpuMemory, price, storagePrice, storageCost, location } = offer
  const { machineId, hostId, verified, reliability, volumeOffer } = offer
  const where = { location, machineId, hostId, volumeOffer }
  const facts = { gpuName, gpuCount, gpuMemory, ...where, verified, reliability }
  return {
    mark,
    offer: { id, ...facts, pricePerHour: price, storagePrice, storageCost },
    step: 'asking',
    before: knownInstances(context),
    requestCount: 0,
    startedAt: context.now(),
  }
}

/** Shows the reason for waiting, once in Activity; the next poll tries again. */
async function wait(
  { context, rentals }: RetryParts,
  id: string,
  problem: Problem,
  text: string,
): Promise<void> {
  const { code } = rentals.get(id).problem ?? {}
  if (context.quitting.aborted) return
  await rentals.update(id, { problem })
  const rental = rentals.get(id)
  if (code !== problem.code && isRetrying(rental)) tellOfRetries(context, rental, { text, problem })
}
