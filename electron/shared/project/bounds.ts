import { type Limit, leastDollars } from '../automation/limit.ts'
import type { RetryLimits } from '../market/rental-bounds.ts'
import { type Micros, micros } from '../spending/money.ts'
import { paidAfterReminder, usualAttempts, usualKeepingFailed, usualSetup } from './project-defaults.ts'
import type { Keeping, ProjectSpec } from './spec.ts'

/** The file's choice for the machine of a failed run. */
export function keepingOf({ failed }: Pick<ProjectSpec, 'failed'>): Keeping {
  const { seconds, destroys } = usualKeepingFailed
  return {
    seconds: failed?.keep ?? seconds,
    destroys: failed?.afterwards === undefined ? destroys : failed.afterwards === 'destroy',
  }
}

/** Seconds for which the highest cost pays for the disk of a failed run's machine. */
export function longestKept({ seconds, destroys }: Keeping): number {
  return destroys ? seconds : seconds + paidAfterReminder
}

/** Hours in a month, for disk prices per month. */
const monthHours = 720

/** Micro-dollars per hour of a spec's disk on a machine with that price per GB and month. */
export function diskPrice(
  { disk = usualSetup.disk }: Pick<ProjectSpec, 'disk'>,
  storageCost: number | undefined,
): Micros | undefined {
  return storageCost === undefined ? undefined : micros((storageCost * disk) / monthHours)
}

/** The port inside the machine, and the outside one where requested. */
export function portOf(port: string | number): { container: number; outside?: number } {
  const [first = 0, second] = String(port).split(':').map(Number)
  return second === undefined ? { container: first } : { outside: first, container: second }
}

export function portsOf({ ports = [] }: Pick<ProjectSpec, 'ports'>): number[] {
  return [...new Set(ports.map(port => portOf(port).container))]
}

export function resultsOf({ results }: Pick<ProjectSpec, 'results'>): string[] {
  return results === undefined ? [] : [results].flat()
}

/** The set-up's commands, and the patterns of the files that they read; any file without them. */
export function setupOf({
  setup,
}: Pick<ProjectSpec, 'setup'>): { run: string; reads?: string[] } | undefined {
  if (setup === undefined || typeof setup === 'string')
    return setup === undefined ? undefined : { run: setup }
  return { run: setup.run, reads: setup.reads === undefined ? undefined : [setup.reads].flat() }
}

/** A place in a cloud: its provider, the connection where one is named, and the path there, bucket included. */
export interface CloudPlace {
  provider: string
  connection?: string
  path: string
}

/** `s3://bucket/folder` or, by its connection, `s3.101://bucket/folder`. */
export function cloudPlaceOf(address: string): CloudPlace {
  const [where = '', path = ''] = address.split(/:\/\/(.*)/s)
  const [provider = '', connection] = where.split('.')
  return { provider, connection, path }
}

/** The copies from clouds, and their targets; without a target into the project's folder, under its last name. */
export function cloudCopiesOf({
  from = [],
}: Pick<ProjectSpec, 'from'>): { address: string; place: CloudPlace; to: string }[] {
  return [from].flat().map(copy => {
    const { cloud, to } = typeof copy === 'string' ? { cloud: copy, to: undefined } : copy
    const place = cloudPlaceOf(cloud)
    return {
      address: cloud,
      place,
      to:
        to ??
        (place.path
          .replace(/(?<!\/)\/+$/, '')
          .split('/')
          .at(-1) ||
          'cloud'),
    }
  })
}

/** Another machine may cost this factor of the shown one's price, if that one is gone. */
const dearer = 1.1

/** The least and the highest price that a rental may name, and the highest bid: micro-dollars per hour. */
const namable = { least: micros(0.001), price: micros(1000), bid: micros(128) }

/** A machine's highest price per hour: the file's limit, else a little more than the shown machine's price. */
export function dearestOf({ machine = {} }: ProjectSpec, price: Micros | undefined): Micros | undefined {
  if (machine.price !== undefined) return micros(machine.price)
  if (price === undefined) return undefined
  const most = machine.interruptible ? namable.bid : namable.price
  return Math.min(most, Math.max(namable.least, Math.ceil(price * dearer)))
}

/**
 * The attempts' limits. `price`: of the shown machine. Their ceiling is the price of an hour, at least a dollar, and never
 * more than a stop in dollars.
 */
export function retryBudget(
  spec: ProjectSpec,
  price: Micros | undefined,
  limits: readonly Limit[] = [],
): RetryLimits {
  const dearest = dearestOf(spec, price)
  const dollars = dearest === undefined ? undefined : dearest / 1_000_000
  return {
    ...usualAttempts,
    ceiling: Math.min(1000, Math.max(1, dollars ?? 1), dollarsOf(limits) ?? 1000),
    price: spec.machine?.interruptible ? undefined : dollars,
  }
}

/** The dollars of a stop by cost. */
export function dollarsOf(limits: readonly Limit[]): number | undefined {
  return limits.flatMap(({ when }) => (when.kind === 'cost' ? when.dollars : []))[0]
}

/**
 * The highest cost in all of machines with these prices per hour, failed attempts included; undefined without a limit.
 * A stop in dollars is for all of them and their attempts, one in hours for each.
 */
export function mostOf(
  spec: ProjectSpec,
  limits: readonly Limit[],
  prices: readonly (Micros | undefined)[],
): Micros | undefined {
  const parts = prices.map(price => {
    const bound = boundOf(
      limits.filter(({ when }) => when.kind === 'duration'),
      dearestOf(spec, price),
    )
    return bound === undefined ? Number.NaN : bound + micros(retryBudget(spec, price).ceiling)
  })
  const byTime = parts.reduce((sum, part) => sum + part, 0)
  const dollars = dollarsOf(limits)
  const bounds = [byTime, dollars === undefined ? Number.NaN : micros(dollars)].filter(Number.isFinite)
  return bounds.length === 0 ? undefined : Math.min(...bounds)
}

/** The terms of a run that say what it costs at most, as the user agreed to them. Amounts in micro-dollars. */
interface AgreedCosts {
  /** In all, as shown; absent without a limit. */
  most?: Micros
  /** Of that for the disk of a failed run's machine; absent where its price is unknown. */
  keptCost?: Micros
  /** Of that for a new volume, which no machine's limit counts. */
  volumeCost?: Micros
  /** Of that for the disks of machines that it leaves. */
  leftCost?: Micros
}

/** What the machines of a run may cost until they are stopped; undefined without a limit. */
export function mostUntilStopped({
  most,
  keptCost = 0,
  volumeCost = 0,
  leftCost = 0,
}: AgreedCosts): Micros | undefined {
  return most === undefined ? undefined : Math.max(0, most - keptCost - volumeCost - leftCost)
}

/**
 * The stops of a machine that may cost so many micro-dollars in all. That and its hours also hold while this computer sleeps,
 * since the plan shows what it costs at most.
 */
export function limitsAt(limits: readonly Limit[], most: Micros): Limit[] {
  const others = limits
    .filter(({ when }) => when.kind !== 'cost')
    .map(stop => (stop.when.kind === 'duration' ? { ...stop, asleep: true } : stop))
  const dollars = Math.max(leastDollars, most / 1_000_000)
  return [...others, { when: { kind: 'cost', dollars }, action: 'stop', asleep: true }]
}

/** How many machines a run may use, one after another: it moves elsewhere as often as `outbid` says. */
export function machinesInTurn({ outbid }: Pick<ProjectSpec, 'outbid'>): number {
  return 1 + (outbid?.elsewhere ?? 0)
}

/** That many machines of a price. */
export function pricesOf<Price extends Micros | undefined>(price: Price, machines: number): Price[] {
  return Array.from({ length: machines }, () => price)
}

/** The dollars, in micro-dollars, and the seconds after which a machine is stopped, as far as its stops say so. */
export function boundsOf(limits: readonly Limit[]): { most?: Micros; seconds?: number } {
  const dollars = dollarsOf(limits)
  const spans = limits.flatMap(({ when }) => (when.kind === 'duration' ? when.seconds : []))
  return {
    ...(dollars !== undefined && { most: micros(dollars) }),
    ...(spans.length > 0 && { seconds: Math.min(...spans) }),
  }
}

/** The most that a machine of a price per hour costs until one of its stops ends it; undefined without a limit. */
export function boundOf(limits: readonly Limit[], price: Micros | undefined): Micros | undefined {
  const bounds = limits.flatMap(({ when }) => {
    if (when.kind === 'cost') return micros(when.dollars)
    return when.kind === 'duration' && price !== undefined ? Math.ceil((price * when.seconds) / 3600) : []
  })
  return bounds.length === 0 ? undefined : Math.min(...bounds)
}

/**
 * Seconds after which a run's machine is stopped at the latest; undefined without a limit. `machines`: how many it may use
 * in turn, each for the hours.
 */
export function longestOf(limits: readonly Limit[], price: Micros, machines = 1): number | undefined {
  const spans = limits.flatMap(({ when }) => {
    if (when.kind === 'duration') return when.seconds * machines
    return when.kind === 'cost' && price > 0 ? (micros(when.dollars) / price) * 3600 : []
  })
  return spans.length === 0 ? undefined : Math.min(...spans)
}
