import type { AttemptLimits } from '../automation/attempts.ts'
import type { RentalStop } from '../automation/guard-kinds.ts'
import { type Micros, micros } from '../spending/money.ts'
import type { ProjectSpec } from './spec.ts'

/** What is rented where `berth.yaml` says nothing; the disk in GB. */
export const usualSetup = { image: 'pytorch/pytorch', disk: 20 }
/** How far renting may go before it gives up: attempts, and seconds for each. */
const attemptLimits = { attempts: 5, deadline: 1200 }

/** How much dearer than the machine that was shown another may be, which is rented where that one has gone. */
const dearer = 1.1

/** The most that a machine may cost an hour: what the file allows, else a little more than the one that was shown. */
export function dearestOf({ machine = {} }: ProjectSpec, price: Micros | undefined): Micros | undefined {
  if (machine.price !== undefined) return micros(machine.price)
  return price === undefined ? undefined : Math.ceil(price * dearer)
}

/** `price` is that of the machine that was shown. What attempts may cost is as much as an hour, a dollar at least. */
export function limitsOf(spec: ProjectSpec, price: Micros | undefined): AttemptLimits {
  const dearest = dearestOf(spec, price)
  const dollars = dearest === undefined ? undefined : dearest / 1_000_000
  return {
    ...attemptLimits,
    ceiling: Math.min(1000, Math.max(1, dollars ?? 1)),
    price: spec.machine?.interruptible ? undefined : dollars,
  }
}

/** What a run of it costs at the most, in all: what its stops allow for one machine, for as many machines as it may have. */
export function mostOf(
  spec: ProjectSpec,
  stops: readonly RentalStop[],
  price: Micros | undefined,
): Micros | undefined {
  const dearest = dearestOf(spec, price)
  const bounds = stops.flatMap(stop => {
    if (stop.kind === 'cost') return micros(stop.dollars)
    return stop.kind === 'duration' && dearest !== undefined ? Math.ceil((dearest * stop.seconds) / 3600) : []
  })
  if (bounds.length === 0) return undefined
  const { ceiling } = limitsOf(spec, price)
  return (Math.min(...bounds) + micros(ceiling)) * (1 + (spec.outbid?.elsewhere ?? 0))
}

/** Seconds after which its machine is stopped at the latest. */
export function longestOf(stops: readonly RentalStop[], price: Micros): number | undefined {
  const spans = stops.flatMap(stop => {
    if (stop.kind === 'duration') return stop.seconds
    return stop.kind === 'cost' && price > 0 ? (micros(stop.dollars) / price) * 3600 : []
  })
  return spans.length === 0 ? undefined : Math.min(...spans)
}
