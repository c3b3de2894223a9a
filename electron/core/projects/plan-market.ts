import type { RentalStop } from '#contract/automation/guard-kinds.ts'
import { limitsOf, longestOf, mostOf } from '#contract/project/bounds.ts'
import type { ProjectPlan } from '#contract/project/project.ts'
import type { ProjectSpec } from '#contract/project/spec.ts'
import type { AccountContext } from '../account-context.ts'
import { bestOffer } from '../renting/attempts/best-offer.ts'
import type { Attempts } from '../renting/attempts/service.ts'
import { pricesUnknown } from '../renting/attempts/words.ts'
import { searchNarrowed } from '../renting/offers/find-offers.ts'
import { offerView } from '../renting/offers/offer-view.ts'
import { requestOf, searchOf, secretsOf, stopsOf } from './plan.ts'

/** The part of a plan that depends on the market, and the names of the secrets it needs. */
export type MarketPlan = Pick<
  ProjectPlan,
  'offer' | 'problem' | 'pricePerHour' | 'stops' | 'most' | 'longest'
> & {
  secrets: readonly string[]
}

/** A project's search, with its GPU names resolved against the market, and the matching offers. */
export async function searchMarket(
  { client, ending }: Pick<AccountContext, 'client' | 'ending'>,
  spec: ProjectSpec,
) {
  const { query } = searchOf(spec, [])
  const service = client().offers
  const options = { signal: ending, timeout: 45_000 }
  const all = (await searchNarrowed(service, query, {}, options)).map(offerView)
  const search = searchOf(spec, [...new Set(all.flatMap(({ gpuName }) => gpuName ?? []))])
  // A service that truncates its list is asked again, with the filter.
  const matching = (await searchNarrowed(service, query, search.filter, options)).map(offerView)
  return { search, offers: matching }
}

export async function planMarket(
  context: AccountContext,
  { hosts }: Pick<Attempts, 'hosts'>,
  spec: ProjectSpec,
  chosen?: readonly RentalStop[],
): Promise<MarketPlan> {
  const { search, offers } = await searchMarket(context, spec)
  const stops = chosen ? [...chosen] : stopsOf(spec)
  const request = requestOf(spec, '', { stops })
  const wanted = { search, request, limits: limitsOf(spec, undefined), attempts: [] }
  const choice = bestOffer(wanted, offers, hosts.view(), () => undefined)?.choice
  const secrets = secretsOf(spec)
  if (!choice) return { problem: pricesUnknown(request, offers), stops, secrets }
  const { offer, price } = choice
  return {
    offer,
    pricePerHour: price,
    stops,
    most: mostOf(spec, stops, price),
    longest: longestOf(stops, price),
    secrets,
  }
}
