import type { Limit } from '../automation/limit.ts'
import { money, rate } from '../format/money.ts'
import { duration } from '../format/time.ts'
import type { OfferView } from '../market/offer.ts'
import { type Micros, micros } from '../spending/money.ts'
import { boundOf, dearestOf, limitsOf, longestOf, mostOf, sweepBounds } from './bounds.ts'
import { mostOfNodes } from './nodes.ts'
import type { PlannedVolume, ProjectPlan } from './project.ts'

/** What the run of a plan costs; amounts in micro-dollars. */
export interface PlanCosts {
  /** Per hour with disk: of its machine, or the dearest of a sweep's. */
  price: Micros
  /** Per hour of all its machines. */
  sum: Micros
  /** Seconds after which its machines are stopped at the latest; absent without a limit. */
  longest?: number
  /** In all, failed attempts and a new volume included; absent without a limit. */
  most?: Micros
  /** Why that much, to follow a colon. */
  why?: string
}

type Planned = Pick<ProjectPlan, 'spec' | 'offer' | 'offers' | 'pricePerHour' | 'volume' | 'nodes'> &
  Pick<ProjectPlan, 'sweep' | 'waiting' | 'stops'>

/** What to reckon with: the stops, and the offer that the user chose in place of the best one. */
interface Choice {
  stops: readonly Limit[]
  offer?: number
}

/** By the plan's own stops where no others were chosen; undefined while there is no machine. */
export function planCosts(plan: Planned, choice: Choice = { stops: plan.stops }): PlanCosts | undefined {
  const machines = machineCosts(plan, choice)
  if (!machines?.most) return machines
  const { longest = 0, most, why } = machines
  const offer = plan.offers.find(one => one.offer.id === choice.offer)?.offer ?? plan.offer
  const perHour = plan.volume?.id === undefined ? volumePrice(plan.volume, offer) : undefined
  if (perHour === undefined) return machines
  const volume = Math.ceil((perHour * longest * (1 + elsewhere(plan))) / 3600)
  return { ...machines, most: most + volume, why: `${why}, and about ${money(volume)} for the new volume` }
}

function machineCosts(plan: Planned, { stops, offer }: Choice): PlanCosts | undefined {
  const { spec, sweep, waiting } = plan
  if (sweep) {
    const prices = sweep.machines.map(one => one.price)
    const price = prices.at(-1)
    if (price === undefined) return undefined
    const { atOnce } = sweep
    const bounds = sweepBounds(spec, stops, { atOnce, prices })
    return { price, sum: inAll(prices), ...bounds, why: sweepWhy(plan, stops, { atOnce, price, ...bounds }) }
  }
  if (waiting && offer === undefined) {
    const price = waiting.pricePerHour
    const most = boundOf(stops, price)
    return { price, sum: price, longest: longestOf(stops, price), most, why: boundWords(stops, price, most) }
  }
  const price = plan.offers.find(one => one.offer.id === offer)?.price ?? plan.pricePerHour
  if (price === undefined) return undefined
  const prices = plan.nodes?.map(node => node.price)
  const most = prices ? mostOfNodes(spec, stops, prices) : mostOf(spec, stops, price)
  const dearest = inAll((prices ?? [price]).map(one => dearestOf(spec, one) ?? one))
  const attempts = inAll((prices ?? [price]).map(one => micros(limitsOf(spec, one).ceiling)))
  const bound = boundWords(stops, dearest, boundOf(stops, dearest))
  const why = `${bound}, plus up to ${money(attempts)} for failed attempts${eachOf(1 + elsewhere(plan))}`
  return { price, sum: price, longest: longestOf(stops, price), most, why }
}

/** How often the machine may be replaced by another one. */
function elsewhere({ spec }: Planned): number {
  return spec.outbid?.elsewhere ?? 0
}

function inAll(amounts: readonly Micros[]): Micros {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}

function eachOf(machines: number): string {
  return machines > 1 ? `, on each of ${machines} machines` : ''
}

/** The stop that bounds the costs, as `$0.35 for 2 h at up to $0.177/h`. */
function boundWords(stops: readonly Limit[], perHour: Micros, bound: Micros | undefined): string {
  const limit = stops.find(({ when }) => when.kind === 'cost' && micros(when.dollars) === bound)
  if (limit) return `your limit of ${money(bound ?? 0)}`
  const seconds = Math.min(...stops.flatMap(({ when }) => (when.kind === 'duration' ? when.seconds : [])))
  return `${money(bound ?? 0)} for ${duration(seconds)} at up to ${rate(perHour)}`
}

function sweepWhy(
  { spec }: Planned,
  stops: readonly Limit[],
  { atOnce, price, most }: { atOnce: number; price: Micros; most?: Micros },
): string {
  const limit = stops.some(({ when }) => when.kind === 'cost' && micros(when.dollars) === most)
  if (limit) return `your limit of ${money(most ?? 0)}, failed attempts included`
  const dearest = dearestOf(spec, price) ?? price
  const times = stops.filter(({ when }) => when.kind === 'duration')
  const attempts = money(micros(limitsOf(spec, dearest).ceiling))
  return `${boundWords(times, dearest, boundOf(times, dearest))}, plus up to ${attempts} for failed attempts${eachOf(atOnce)}`
}

/** Of a volume, micro-dollars per hour: the service's figure, or for a new one an estimate by the price of its machine's disk. */
export function volumePrice(
  volume: PlannedVolume | undefined,
  offer: OfferView | undefined,
): Micros | undefined {
  if (!volume || volume.costPerHour !== undefined) return volume?.costPerHour
  const { size } = volume
  if (volume.id !== undefined || size === undefined || offer?.storageCost === undefined) return undefined
  return micros((offer.storageCost * size) / hoursInMonth)
}

/** Of the service's prices for disks. */
const hoursInMonth = 720
