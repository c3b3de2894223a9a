import { count } from '#contract/format/size.ts'
import type { OfferView } from '#contract/market/offer.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import { limitsOf } from '#contract/project/bounds.ts'
import { nodeCount } from '#contract/project/engine.ts'
import { gpusInAll, onOneMachine } from '#contract/project/nodes.ts'
import type { ProjectPlan } from '#contract/project/project.ts'
import type { ProjectSpec } from '#contract/project/spec.ts'
import type { Micros } from '#contract/spending/money.ts'
import { ServiceError } from '#service/service-error.ts'
import type { AccountContext } from '../account-context.ts'
import { fittingOffers, type OfferChoice } from '../renting/next-offer.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { ClusterChoice } from '../runs/folders.ts'
import { requestOf, secretsOf, stopsOf } from './plan.ts'
import { type Chosen, type MarketPlan, planMarket, searchMarket } from './plan-market.ts'

/** The clusters with so many machines among the offers, which are cheapest first; the cheapest cluster first. */
export function clustersWithRoom(
  offers: readonly Pick<OfferChoice, 'offer' | 'price'>[],
  nodes: number,
): ClusterChoice[] {
  const clusters = new Map<number, Pick<OfferChoice, 'offer' | 'price'>[]>()
  for (const choice of offers) {
    const { clusterId, machineId } = choice.offer
    if (clusterId === undefined) continue
    const inside = clusters.get(clusterId) ?? []
    clusters.set(clusterId, inside)
    const isOther = (one: { offer: OfferView }) =>
      machineId === undefined || one.offer.machineId !== machineId
    if (inside.length < nodes && inside.every(isOther)) inside.push(choice)
  }
  return [...clusters]
    .flatMap(([cluster, inside]) => (inside.length === nodes ? { cluster, offers: inside } : []))
    .sort((a, b) => priceOf(a.offers) - priceOf(b.offers))
}

/** Of all machines together, micro-dollars per hour. */
export function priceOf(offers: readonly { price: Micros }[]): Micros {
  return offers.reduce((sum, { price }) => sum + price, 0)
}

/** The clusters that have room for a project, the cheapest first. */
export async function findClusters(
  context: AccountContext,
  { hosts }: Pick<Rentals, 'hosts'>,
  spec: ProjectSpec,
): Promise<ClusterChoice[]> {
  const found = await searchMarket(context, spec).catch((error: unknown) => {
    // The service knows no clusters.
    if (error instanceof ServiceError && (error.status === 400 || error.status === 422)) return undefined
    throw error
  })
  if (!found) return []
  const { search, offers } = found
  const request = requestOf(spec, '', { stops: [] })
  const retryRequest = { search, request, retries: limitsOf(spec, undefined), tries: [] }
  const fitting = [...fittingOffers(retryRequest, offers, hosts.view())].sort((a, b) => a.price - b.price)
  return clustersWithRoom(fitting, nodeCount(spec))
}

/** The plan of a run on several machines; where no cluster has room, that of one machine instead. */
export async function planNodes(
  context: AccountContext,
  rentals: Pick<Rentals, 'hosts'>,
  spec: ProjectSpec,
  chosen: Pick<Chosen, 'stops'> = {},
): Promise<MarketPlan> {
  const [cheapest] = await findClusters(context, rentals, spec)
  const stops = chosen.stops ? [...chosen.stops] : stopsOf(spec)
  const secrets = secretsOf(spec)
  if (!cheapest) {
    const alone = await onOne(context, rentals, spec)
    return { offers: [], problem: noCluster(spec), alone, stops, secrets }
  }
  const { offers } = cheapest
  const price = priceOf(offers)
  return {
    offer: offers[0]?.offer,
    offers: [],
    nodes: offers.map(one => ({ offer: one.offer, price: one.price })),
    pricePerHour: price,
    stops,
    secrets,
  }
}

async function onOne(
  context: AccountContext,
  rentals: Pick<Rentals, 'hosts'>,
  spec: ProjectSpec,
): Promise<ProjectPlan['alone']> {
  const other = onOneMachine(spec)
  if ((other.machine?.count ?? 1) > mostGpus) return undefined
  const { offer, pricePerHour: price } = await planMarket(context, rentals, other)
  return offer && price !== undefined ? { offer, price } : undefined
}
/** GPUs of one machine, as `berth.yaml` takes them. */
const mostGpus = 64

/** A price a tenth above the agreed one is as far as another cluster may be dearer. */
const dearer = 1.1

/**
 * The cheapest cluster that has room, without those that refused a network. `price`: of all machines, as agreed.
 * Throws `no_cluster`.
 */
export async function chooseCluster(
  context: AccountContext,
  rentals: Pick<Rentals, 'hosts'>,
  spec: ProjectSpec,
  { refused, price }: { refused: readonly number[]; price: Micros | undefined },
): Promise<ClusterChoice> {
  const clusters = await findClusters(context, rentals, spec)
  const most =
    spec.machine?.price === undefined && price !== undefined ? price * dearer : Number.POSITIVE_INFINITY
  const choice = clusters.find(({ cluster, offers }) => !refused.includes(cluster) && priceOf(offers) <= most)
  if (!choice) throw new BerthError(refused.length > 0 ? noNetwork : noCluster(spec))
  return choice
}

function noCluster(spec: ProjectSpec): Problem {
  const nodes = nodeCount(spec)
  return {
    code: 'no_cluster',
    message: `No cluster has ${count(nodes)} free machines that match berth.yaml.`,
    advice: `Request fewer or other machines, or one with ${count(gpusInAll(spec))} GPUs.`,
  }
}
const noNetwork = {
  code: 'no_network',
  message: 'The service couldn’t create a network in any cluster with enough free machines.',
  advice: 'Try again later, or use one machine with as many GPUs.',
}
