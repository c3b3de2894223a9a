import type { Limit } from '#contract/automation/limit.ts'
import { BerthError } from '#contract/problem.ts'
import { limitsOf } from '#contract/project/bounds.ts'
import type { ProjectPlan, WaitingForPlan } from '#contract/project/project.ts'
import type { ProjectSpec } from '#contract/project/spec.ts'
import { atOnceOf, settingsOf } from '#contract/project/sweep.ts'
import type { AccountContext } from '../account-context.ts'
import { searchNarrowed } from '../market/find-offers.ts'
import { offerView } from '../market/offer-view.ts'
import { fittingOffers } from '../renting/next-offer.ts'
import type { Rentals } from '../renting/rentals.ts'
import { pricesUnknown } from '../renting/words.ts'
import { requestOf, searchOf, secretsOf, stopsOf } from './plan.ts'
import { newVolumeForMany, nothingOnMachine, volumeOf } from './volume.ts'

/** The part of a plan that depends on the market, and the names of the secrets it needs. */
export type MarketPlan = Pick<
  ProjectPlan,
  'offer' | 'offers' | 'problem' | 'pricePerHour' | 'nodes' | 'alone' | 'volume' | 'stops' | 'sweep'
> & {
  secrets: readonly string[]
}

/** A project's search, with its GPU names resolved against the market, the matching offers, and the volume to mount. */
export async function searchMarket(
  { client, ending }: Pick<AccountContext, 'client' | 'ending'>,
  spec: ProjectSpec,
) {
  const volume = await volumeOf(spec, client())
  const { query } = searchOf(spec, [], volume)
  const service = client().offers
  const options = { signal: ending, timeout: 45_000 }
  const all = (await searchNarrowed(service, query, {}, options)).map(offerView)
  const search = searchOf(spec, [...new Set(all.flatMap(({ gpuName }) => gpuName ?? []))], volume)
  // A service that truncates its list is asked again, with the filter.
  const matching = (await searchNarrowed(service, query, search.filter, options)).map(offerView)
  return { search, offers: matching, volume }
}

/** The user's choices that override the file's stops and the best offer. */
export interface Chosen {
  stops?: readonly Limit[]
  offer?: number
}

/** How many offers a plan has to choose from. */
const mostOffers = 10

/**
 * Throws `offer_unfit` where the chosen offer is not among those that fit, and `new_volume_for_many`. `waiting`: machines
 * of earlier runs, which a sweep uses first.
 */
export async function planMarket(
  context: AccountContext,
  { hosts }: Pick<Rentals, 'hosts'>,
  spec: ProjectSpec,
  chosen: Chosen = {},
  waiting: readonly WaitingForPlan[] = [],
): Promise<MarketPlan> {
  const { search, offers, volume } = await searchMarket(context, spec)
  const settings = settingsOf(spec)
  const atOnce = settings ? atOnceOf(spec, settings.length) : 1
  if (atOnce > 1 && volume && volume.id === undefined) throw new BerthError(newVolumeForMany(volume.name))
  const stops = chosen.stops ? [...chosen.stops] : stopsOf(spec)
  const request = requestOf(spec, '', { stops, volume })
  const retries = limitsOf(spec, undefined)
  const retryRequest = { search, request, retries, tries: [], first: chosen.offer }
  const fitting = [...fittingOffers(retryRequest, offers, hosts.view())]
  const [choice] = fitting
  if (chosen.offer !== undefined && choice?.offer.id !== chosen.offer)
    throw new BerthError(offerUnfit(chosen.offer))
  const unavailable = volume?.id === undefined ? pricesUnknown(request, offers) : nothingOnMachine(volume)
  const shown = (count: number) =>
    fitting.slice(0, count).map(one => ({ offer: one.offer, price: one.price }))
  const machines = shown(Math.max(0, atOnce - waiting.length))
  const prices = [...waiting.map(one => one.pricePerHour), ...machines.map(one => one.price)]
  return {
    offer: choice?.offer,
    offers: shown(mostOffers),
    problem: choice ? undefined : unavailable,
    // Of a sweep the dearest, since each may cost as much as was agreed.
    pricePerHour: settings && prices.length > 0 ? Math.max(...prices) : choice?.price,
    volume,
    stops,
    secrets: secretsOf(spec),
    sweep: settings && { settings, atOnce, waiting, machines },
  }
}

function offerUnfit(offer: number) {
  return {
    code: 'offer_unfit',
    message: `Offer ${offer} is gone, or doesn’t match berth.yaml.`,
    advice: 'Choose another one, or change berth.yaml.',
  }
}
