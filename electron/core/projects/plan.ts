import { ServiceError } from '#service/service-error.ts'
import type { Limit, LimitWhen } from '#shared/automation/limit.ts'
import { count } from '#shared/format/size.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { longestLabel, type OpenRequest, type RentalSearch } from '#shared/market/rent-request.ts'
import { searchWords } from '#shared/market/search-text.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { dearestOf, portOf, retryBudget } from '#shared/project/bounds.ts'
import { gpusInAll, nodeCount } from '#shared/project/nodes.ts'
import type { PlannedVolume, ProjectPlan, WaitingForPlan } from '#shared/project/project.ts'
import { usualMachine, usualSetup } from '#shared/project/project-defaults.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { storeSecrets } from '#shared/project/store.ts'
import { atOnceOf, onOneMachine, settingsOf } from '#shared/project/sweep.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { searchNarrowed } from '../market/find-offers.ts'
import { offerView } from '../market/offer-view.ts'
import { pricesUnknown } from '../renting/messages.ts'
import { fittingOffers, type OfferChoice } from '../renting/next-offer.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { ClusterChoice } from '../runs/rooms-above.ts'
import { newVolumeForMany, nothingOnMachine, volumeOf } from './volume.ts'

/** What a search of the market needs to know of rentals. */
export type MarketRentals = Pick<Rentals, 'hosts' | 'usedMachines'>

/** Defaults for omissions in `berth.yaml`. */
const usual = { idleBelow: 5 }
/** The highest bid while no machine's price is known. */
const anyBid = micros(128)

/** A project's search. `names`: the GPUs on the market, since `H100` means each of its variants. */
export function searchOf(
  { machine = {}, disk, nodes }: ProjectSpec,
  names: readonly string[],
  volume?: PlannedVolume,
): RentalSearch {
  const { gpu, count, vram, price, interruptible, region, verified, reliability, download, upload, cuda } =
    machine
  const gpus = gpu === undefined ? undefined : [gpu].flat()
  return {
    query: {
      type: interruptible ? 'bid' : 'on-demand',
      verifiedOnly: verified ?? usualMachine.verified,
      storage: disk ?? usualSetup.disk,
      limit: 5000,
      ...(nodeCount({ nodes }) > 1 ? { extra: { cluster_id: { neq: null } } } : {}),
      ...(volume?.machineId === undefined ? {} : { extra: { machine_id: { eq: volume.machineId } } }),
    },
    filter: {
      gpus: gpus && namesMeant(gpus, names),
      countFrom: count ?? 1,
      countTo: count ?? 1,
      priceTo: price,
      regions: region === undefined ? undefined : [region].flat().map(code => code.toUpperCase()),
      memoryFrom: vram,
      reliabilityFrom: (reliability ?? usualMachine.reliability) / 100,
      downFrom: download,
      upFrom: upload,
      cudaFrom: cuda,
    },
    order: { column: 'price', descending: false },
  }
}

function namesMeant(asked: readonly string[], names: readonly string[]): string[] {
  const meant = asked.flatMap(text => {
    const words = searchWords(text)
    const found = names.filter(name => words.every(word => searchWords(name).includes(word)))
    return found.length === 0 ? [text] : found
  })
  return [...new Set(meant)]
}

/** The request for a project's machine, under the agreed terms. `label` is its label on the account. */
export function projectRequest(
  spec: ProjectSpec,
  label: string,
  { limits, price, volume }: { limits: readonly Limit[]; price?: Micros; volume?: PlannedVolume },
): OpenRequest {
  const { image, template, disk, ports = [], machine = {} } = spec
  return {
    image: image ?? (template === undefined ? usualSetup.image : ''),
    template: template === undefined ? undefined : { hash: template, name: template },
    access: 'ssh',
    direct: true,
    disk: disk ?? usualSetup.disk,
    env: [],
    ports: ports.map(port => ({ ...portOf(port), protocol: 'tcp' as const })),
    label: label.slice(0, longestLabel),
    bid: machine.interruptible ? (dearestOf(spec, price) ?? anyBid) / 1_000_000 : undefined,
    ...(volume ? { volume: volumeRequest(volume) } : {}),
    limits: [...limits],
  }
}

function volumeRequest({ name, at, id, machineId, size = 0 }: PlannedVolume): OpenRequest['volume'] {
  if (id === undefined) return { create: true, name, size, mountPath: at }
  return { create: false, volume: id, machine: machineId, mountPath: at }
}

/** The limits that a project's `stop` asks for. */
export function limitsOf({ stop = {} }: ProjectSpec): Limit[] {
  const { idle, hours, dollars } = stop
  const whens: LimitWhen[] = []
  if (idle !== undefined) whens.push({ kind: 'idle', below: usual.idleBelow, seconds: idle })
  if (hours !== undefined) whens.push({ kind: 'duration', seconds: Math.max(60, hours * 3600) })
  if (dollars !== undefined) whens.push({ kind: 'cost', dollars: Math.max(0.01, dollars) })
  return whens.map(when => ({ when, action: 'stop', asleep: false }))
}

/** Names of the secrets that a project needs. */
export function secretsOf(spec: ProjectSpec): string[] {
  const secretNames = Object.values(spec.env ?? {}).flatMap(value =>
    typeof value === 'object' ? value.secret : [],
  )
  return [...new Set([...secretNames, ...storeSecrets(spec)])]
}

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
  rentals: MarketRentals,
  spec: ProjectSpec,
): Promise<ClusterChoice[]> {
  const found = await searchMarket(context, rentals, spec).catch((error: unknown) => {
    // The service knows no clusters.
    if (error instanceof ServiceError && (error.status === 400 || error.status === 422)) return undefined
    throw error
  })
  if (!found) return []
  const { search, offers } = found
  const request = projectRequest(spec, '', { limits: [] })
  const retryRequest = { search, request, retries: retryBudget(spec, undefined), attempts: [] }
  const fitting = [...fittingOffers(retryRequest, offers, rentals.hosts.avoided())].sort(
    (a, b) => a.price - b.price,
  )
  return clustersWithRoom(fitting, nodeCount(spec))
}

/** The plan of a run on several machines; where no cluster has room, that of one machine instead. */
export async function planNodes(
  context: AccountContext,
  rentals: MarketRentals,
  spec: ProjectSpec,
  chosen: Pick<Chosen, 'limits'> = {},
): Promise<MarketPlan> {
  const [cheapest] = await findClusters(context, rentals, spec)
  const limits = chosen.limits ? [...chosen.limits] : limitsOf(spec)
  const secrets = secretsOf(spec)
  if (!cheapest) {
    const alone = await onOne(context, rentals, spec)
    return { offers: [], problem: noCluster(spec), alone, limits, secrets }
  }
  const { offers } = cheapest
  const price = priceOf(offers)
  return {
    offer: offers[0]?.offer,
    offers: [],
    nodes: offers.map(one => ({ offer: one.offer, price: one.price })),
    pricePerHour: price,
    limits,
    secrets,
  }
}

async function onOne(
  context: AccountContext,
  rentals: MarketRentals,
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
  rentals: MarketRentals,
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

/** The part of a plan that depends on the market, and the names of the secrets it needs. */
export type MarketPlan = Pick<
  ProjectPlan,
  | 'offer'
  | 'offers'
  | 'above'
  | 'problem'
  | 'pricePerHour'
  | 'nodes'
  | 'alone'
  | 'volume'
  | 'limits'
  | 'sweep'
> & {
  secrets: readonly string[]
}

/** A project's search, with its GPU names resolved against the market, the matching offers, and the volume to mount. */
export async function searchMarket(
  { client, quitting }: Pick<AccountContext, 'client' | 'quitting'>,
  { usedMachines }: MarketRentals,
  spec: ProjectSpec,
) {
  const volume = await volumeOf(spec, client(), usedMachines())
  const { query } = searchOf(spec, [], volume)
  const service = client().offers
  const options = { signal: quitting, timeout: 45_000 }
  const all = (await searchNarrowed(service, query, {}, options)).map(offerView)
  const search = searchOf(spec, [...new Set(all.flatMap(({ gpuName }) => gpuName ?? []))], volume)
  // A service that truncates its list is asked again, with the filter.
  const matching = (await searchNarrowed(service, query, search.filter, options)).map(offerView)
  return { search, offers: matching, volume }
}

/** An offer that a project would take now, or else the cheapest one that only its price keeps out. */
export async function seekOffer(
  context: AccountContext,
  rentals: MarketRentals,
  spec: ProjectSpec,
): Promise<{ fits: boolean; cheapest?: Pick<OfferChoice, 'offer' | 'price'> }> {
  const bestOf = async (wanted: ProjectSpec) => {
    const { search, offers, volume } = await searchMarket(context, rentals, wanted)
    const request = projectRequest(wanted, '', { limits: [], volume })
    const retries = retryBudget(wanted, undefined)
    const [best] = fittingOffers({ search, request, retries, attempts: [] }, offers, rentals.hosts.avoided())
    return best
  }
  const best = await bestOf(spec)
  if (best) return { fits: true, cheapest: best }
  return { fits: false, cheapest: await bestOf({ ...spec, machine: { ...spec.machine, price: undefined } }) }
}

/** The user's choices that override the file's stops and the best offer. */
export interface Chosen {
  limits?: readonly Limit[]
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
  rentals: MarketRentals,
  spec: ProjectSpec,
  chosen: Chosen = {},
  waiting: readonly WaitingForPlan[] = [],
): Promise<MarketPlan> {
  const { search, offers, volume } = await searchMarket(context, rentals, spec)
  const settings = settingsOf(spec)
  const atOnce = settings ? atOnceOf(spec, settings.length) : 1
  if (atOnce > 1 && volume && volume.id === undefined) throw new BerthError(newVolumeForMany(volume.name))
  const limits = chosen.limits ? [...chosen.limits] : limitsOf(spec)
  const request = projectRequest(spec, '', { limits, volume })
  const retries = retryBudget(spec, undefined)
  const retryRequest = { search, request, retries, attempts: [], first: chosen.offer }
  const fitting = [...fittingOffers(retryRequest, offers, rentals.hosts.avoided())]
  const [choice] = fitting
  if (chosen.offer !== undefined && choice?.offer.id !== chosen.offer)
    throw new BerthError(offerUnfit(chosen.offer))
  const above =
    choice || settings || spec.wait === undefined
      ? undefined
      : (await seekOffer(context, rentals, spec)).cheapest
  const unavailable = volume?.id === undefined ? pricesUnknown(request, offers) : nothingOnMachine(volume)
  const shown = (count: number) =>
    fitting.slice(0, count).map(one => ({ offer: one.offer, price: one.price }))
  const machines = shown(Math.max(0, atOnce - waiting.length))
  const prices = [...waiting.map(one => one.pricePerHour), ...machines.map(one => one.price)]
  return {
    offer: choice?.offer,
    offers: shown(mostOffers),
    problem: choice ? undefined : unavailable,
    above: above && { offer: above.offer, price: above.price },
    // Of a sweep the dearest, since each may cost as much as was agreed.
    pricePerHour: settings && prices.length > 0 ? Math.max(...prices) : choice?.price,
    volume,
    limits,
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
