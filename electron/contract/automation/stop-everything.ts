import type { InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import type { RentalView } from '../market/rental.ts'
import { runsOnceBack } from '../reading.ts'
import type { AccountView } from '../state.ts'
import { type AttemptSeriesView, isTrying } from './attempts.ts'
import type { WatchView } from './watch.ts'

/** What "stop everything" stops, cancels and pauses: what costs GPUs now, or would by itself. */
export interface Everything {
  instances: readonly InstanceView[]
  /** Those that no series cancels itself. */
  rentals: readonly RentalView[]
  attempts: readonly AttemptSeriesView[]
  /** Those that would rent by themselves. */
  watches: readonly WatchView[]
}

/**
 * Rentals and attempts under way are cancelled, and what they have created goes with them: nothing ran on it. All else
 * that runs, is about to, or would run again by itself (outbid, or its machine offline), is stopped. Watches that rent are paused.
 */
export function everything(
  account: Pick<AccountView, 'instances' | 'rentals' | 'attempts' | 'watches'>,
): Everything {
  const attempts = Object.values(account.attempts).filter(one => isTrying(one) && !one.cancelling)
  const tried = new Set(attempts.flatMap(({ attempts }) => attempts.map(({ rental }) => rental)))
  const underWay = Object.values(account.rentals).filter(isUnderWay)
  const taken = new Set([...underWay, ...attempts].map(({ instance }) => instance))
  return {
    instances: Object.values(account.instances).filter(one => mayRun(one) && !taken.has(one.id)),
    rentals: underWay.filter(({ id }) => !tried.has(id)),
    attempts,
    watches: Object.values(account.watches).filter(({ rents, paused }) => rents && !paused),
  }
}

function isUnderWay({ step }: RentalView): boolean {
  return step !== 'running' && step !== 'failed' && step !== 'cancelled'
}

function mayRun(instance: InstanceView): boolean {
  const { state } = instance
  if (state === 'offline') return runsOnceBack(instance)
  return !hasTrait(state, 'over')
}
