import type { FailoverLimits } from '../automation/failover.ts'
import type { RentalStop } from '../automation/guard-kinds.ts'
import { type Micros, micros } from '../spending/money.ts'
import type { ProjectSpec } from './spec.ts'

/** What is rented where `berth.yaml` says nothing; the disk in GB. */
export const usualSetup = { image: 'pytorch/pytorch', disk: 20 }
/** How far renting may go before it gives up: attempts, and seconds for each. */
const tries = { attempts: 5, deadline: 1200 }

/** At the price of the machine, or the highest that may be paid; what tries may cost is as much as an hour, a dollar at least. */
export function limitsOf({ machine = {} }: ProjectSpec, price: Micros | undefined): FailoverLimits {
  const dear = price === undefined ? (machine.price ?? 1) : price / 1_000_000
  return {
    ...tries,
    ceiling: Math.min(1000, Math.max(1, dear)),
    price: machine.interruptible ? undefined : machine.price,
  }
}

/** What a run of it costs at the most, in all: what its stops allow for one machine, for as many machines as it may have. */
export function mostOf(
  { outbid, machine = {} }: ProjectSpec,
  stops: readonly RentalStop[],
  price: Micros,
  { ceiling }: FailoverLimits,
): Micros | undefined {
  const dear = machine.price === undefined ? price : micros(machine.price)
  const bounds = stops.flatMap(stop => {
    if (stop.kind === 'cost') return micros(stop.dollars)
    return stop.kind === 'duration' ? Math.ceil((dear * stop.seconds) / 3600) : []
  })
  if (bounds.length === 0) return undefined
  return (Math.min(...bounds) + micros(ceiling)) * (1 + (outbid?.elsewhere ?? 0))
}

/** Seconds after which its machine is stopped at the latest. */
export function longestOf(stops: readonly RentalStop[], price: Micros): number | undefined {
  const spans = stops.flatMap(stop => {
    if (stop.kind === 'duration') return stop.seconds
    return stop.kind === 'cost' && price > 0 ? (micros(stop.dollars) / price) * 3600 : []
  })
  return spans.length === 0 ? undefined : Math.min(...spans)
}
