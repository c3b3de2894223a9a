import type { Limit } from '../automation/limit.ts'
import { money, rate, unitPrice } from '../format/money.ts'
import { duration } from '../format/time.ts'
import type { OfferView } from '../market/offer.ts'
import { type Micros, micros } from '../spending/money.ts'
import { dearerWay } from '../spending/traffic.ts'
import {
  boundOf,
  dearestOf,
  diskPrice,
  dollarsOf,
  keepingOf,
  longestKept,
  longestOf,
  machinesInTurn,
  mostOf,
  pricesOf,
  retryBudget,
} from './bounds.ts'
import { leftCost } from './copy-first.ts'
import type { PlannedVolume, ProjectPlan } from './project.ts'
import { remindsWithin } from './project-defaults.ts'
import type { Keeping, ProjectSpec } from './spec.ts'

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
  /** Per hour of the disk that is left once it is stopped; absent where it is unknown. */
  disk?: Micros
  /** Of the highest cost for that disk, where the run fails. */
  keptCost?: Micros
  /** Of that for a new volume. */
  volumeCost?: Micros
  /** Of that for the disks of the machines that it leaves. */
  leftCost?: Micros
  /** Dollars per GB of traffic at most, which counts into the highest cost; absent where it is free or unknown. */
  traffic?: number
  /** Why that much, to follow a colon. */
  why?: string
}

type Planned = Pick<
  ProjectPlan,
  'spec' | 'offer' | 'offers' | 'above' | 'pricePerHour' | 'volume' | 'nodes'
> &
  Pick<ProjectPlan, 'sweep' | 'waiting' | 'limits'>

/**
 * What to reckon with: the stops, the offer that the user chose in place of the best one, and how long a failed run's
 * machine is kept, by default as the file says.
 */
interface Choice {
  limits: readonly Limit[]
  offer?: number
  keeping?: Keeping
}

/** By the plan's own stops where no others were chosen; undefined while there is no machine. */
export function planCosts(plan: Planned, choice: Choice = { limits: plan.limits }): PlanCosts | undefined {
  const machines = machineCosts(plan, choice)
  if (!machines) return undefined
  const disk = diskLeft(plan, choice)
  const traffic = trafficPrice(plan, choice)
  const known = { ...machines, disk, ...(traffic > 0 && { traffic }) }
  if (machines.most === undefined) return known
  const { longest = 0, most, why } = machines
  const kept = longestKept(choice.keeping ?? keepingOf(plan.spec))
  const keptCost = disk === undefined ? undefined : Math.ceil((disk * kept) / 3600)
  const offer = plan.offers.find(one => one.offer.id === choice.offer)?.offer ?? plan.offer
  const perHour = plan.volume?.id === undefined ? volumePrice(plan.volume, offer) : undefined
  const volumeCost = perHour === undefined ? undefined : Math.ceil((perHour * longest) / 3600)
  const left = disk === undefined ? 0 : leftCost(plan.spec, disk)
  const parts = [
    why,
    keptCost && keptCost >= 1000 && `${money(keptCost)} for ${duration(kept)} of disk if it fails`,
    left > 0 && `${money(left)} for disks of machines that it leaves`,
    volumeCost && `about ${money(volumeCost)} for the new volume`,
  ].filter(Boolean)
  return {
    ...known,
    most: most + (keptCost ?? 0) + (volumeCost ?? 0) + left,
    ...(left > 0 && { leftCost: left }),
    ...(keptCost !== undefined && { keptCost }),
    ...(volumeCost !== undefined && { volumeCost }),
    why: parts.join(', and '),
  }
}

/** The parts of a plan's costs that the user agrees to with its run. */
export function agreedCosts(
  costs: PlanCosts | undefined,
): Pick<PlanCosts, 'most' | 'keptCost' | 'volumeCost' | 'leftCost'> {
  return {
    most: costs?.most,
    keptCost: costs?.keptCost,
    volumeCost: costs?.volumeCost,
    leftCost: costs?.leftCost,
  }
}

/** What becomes of a machine that is stopped at its run's end, in sentences. */
export function stoppedWords({ disk }: Pick<PlanCosts, 'disk'> = {}): string {
  return `Its disk costs ${disk === undefined ? 'money' : rate(disk)} until you destroy it.`
}

/** What becomes of the machine of a run that fails, in sentences. */
export function keptWords(
  { seconds, destroys }: Keeping,
  { disk, most, keptCost }: Pick<PlanCosts, 'disk' | 'most' | 'keptCost'> = {},
): string {
  const costs = `It keeps its files, and its disk costs ${disk === undefined ? 'money' : rate(disk)}.`
  if (destroys)
    return `${costs} It’s destroyed ${duration(seconds)} later, with all that isn’t downloaded by then.`
  const reminder = `You’re reminded ${duration(Math.min(seconds, remindsWithin))} later`
  return most === undefined || keptCost === undefined
    ? `${costs} ${reminder}.`
    : `${costs} ${reminder}. Once the run has cost ${money(most)} in all, it’s destroyed with all that isn’t downloaded.`
}

/** What a plan says of its traffic; undefined where that is free or unknown. */
export function trafficInPlan({ traffic, most }: Pick<PlanCosts, 'traffic' | 'most'>): string | undefined {
  if (traffic === undefined) return undefined
  const price = `up to ${unitPrice(traffic)}/GB`
  return most === undefined ? `Traffic costs extra, ${price}.` : `Traffic counts into that, at ${price}.`
}

/** Dollars per GB, in the dearer direction on the dearest machine that would be rented. */
function trafficPrice({ offers, offer, nodes, sweep }: Planned, choice: Choice): number {
  const chosen = offers.find(one => one.offer.id === choice.offer)?.offer ?? offer
  const rented = (sweep?.machines ?? nodes)?.map(one => one.offer) ?? (chosen ? [chosen] : [])
  return Math.max(0, ...rented.map(dearerWay))
}

/** Of the disks that are left once its machines are stopped, per hour: of several nodes, that of the first one. */
function diskLeft({ spec, sweep, nodes, waiting, ...plan }: Planned, { offer }: Choice): Micros | undefined {
  if (sweep) {
    const disks = [
      ...sweep.waiting.map(({ disk }) => disk),
      ...sweep.machines.map(one => diskPrice(spec, one.offer.storageCost)),
    ]
    return disks.includes(undefined) ? undefined : Math.max(...disks.map(disk => disk ?? 0)) * sweep.atOnce
  }
  if (waiting && offer === undefined) return waiting.disk
  const chosen =
    plan.offers.find(one => one.offer.id === offer)?.offer ??
    nodes?.[0]?.offer ??
    plan.offer ??
    plan.above?.offer
  return diskPrice(spec, chosen?.storageCost)
}

function machineCosts(plan: Planned, { limits, offer }: Choice): PlanCosts | undefined {
  const { spec, sweep, nodes, waiting } = plan
  if (sweep) {
    const prices = [...sweep.waiting.map(one => one.pricePerHour), ...sweep.machines.map(one => one.price)]
    if (prices.length === 0) return undefined
    // Machines that wait may be lost, and are replaced then.
    const price = Math.max(...prices)
    const most = mostOf(spec, limits, pricesOf(price, sweep.atOnce))
    const why = whyMost(spec, limits, most, { together: [price], machines: sweep.atOnce })
    return { price, sum: inAll(prices), most, longest: longestOf(limits, inAll(prices)), why }
  }
  if (waiting && offer === undefined) {
    const price = waiting.pricePerHour
    const most = boundOf(limits, price)
    const why = dollarsBound(limits, most) ?? timeWords(limits, price)
    return { price, sum: price, longest: longestOf(limits, price), most, why }
  }
  const price = plan.offers.find(one => one.offer.id === offer)?.price ?? plan.pricePerHour ?? pricedAt(spec)
  if (price === undefined) return undefined
  const machines = machinesInTurn(spec)
  const together = nodes?.map(node => node.price) ?? [price]
  const most = mostOf(spec, limits, nodes ? together : pricesOf(price, machines))
  const why = whyMost(spec, limits, most, { together, machines })
  return { price, sum: price, longest: longestOf(limits, price, machines), most, why }
}

/** What a run that waits pays per hour at most, where no offer fits yet. */
function pricedAt({ wait, machine }: ProjectSpec): Micros | undefined {
  return wait === undefined || machine?.price === undefined ? undefined : micros(machine.price)
}

function inAll(amounts: readonly Micros[]): Micros {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}

/**
 * Why a plan costs `most`. `together`: the prices of the machines that share the hours; `machines`: how often the hours and
 * the failed attempts of `together` count.
 */
function whyMost(
  spec: ProjectSpec,
  limits: readonly Limit[],
  most: Micros | undefined,
  { together, machines }: { together: readonly Micros[]; machines: number },
): string {
  const dearest = inAll(together.map(price => dearestOf(spec, price) ?? price))
  const attempts = inAll(together.map(price => micros(retryBudget(spec, price).ceiling)))
  const each = machines > 1 ? `, on each of ${machines} machines` : ''
  return (
    dollarsBound(limits, most) ??
    `${timeWords(limits, dearest)}, plus up to ${money(attempts)} for failed attempts${each}`
  )
}

/** The stop in dollars as the reason, where it is what bounds the costs. */
function dollarsBound(limits: readonly Limit[], most: Micros | undefined): string | undefined {
  const dollars = dollarsOf(limits)
  if (dollars === undefined || micros(dollars) !== most) return undefined
  return `your limit of ${money(most)}, failed attempts included`
}

/** The stop in hours as the reason: `$0.35 for 2 h at up to $0.177/h`. */
function timeWords(limits: readonly Limit[], perHour: Micros): string {
  const seconds = Math.min(...limits.flatMap(({ when }) => (when.kind === 'duration' ? when.seconds : [])))
  return `${money(Math.ceil((perHour * seconds) / 3600))} for ${duration(seconds)} at up to ${rate(perHour)}`
}

/** Of a volume, micro-dollars per hour: the service's figure, or for a new one an estimate by the price of its machine's disk. */
export function volumePrice(
  volume: PlannedVolume | undefined,
  offer: OfferView | undefined,
): Micros | undefined {
  if (!volume || volume.costPerHour !== undefined) return volume?.costPerHour
  const { size } = volume
  return volume.id !== undefined || size === undefined
    ? undefined
    : diskPrice({ disk: size }, offer?.storageCost)
}
