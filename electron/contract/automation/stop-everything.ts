import type { InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import type { RentalView } from '../market/rental.ts'
import { runsOnceBack } from '../reading.ts'
import type { AccountView } from '../state.ts'
import { type AttemptSeriesView, isTrying } from './attempts.ts'
import type { WatchView } from './watch.ts'

/** The targets of "stop everything": all that costs GPU time now, or would without the user. */
export interface Everything {
  instances: readonly InstanceView[]
  /** Rentals outside of a series, which cancels its own. */
  rentals: readonly RentalView[]
  attempts: readonly AttemptSeriesView[]
  /** Watches that rent by themselves. */
  watches: readonly WatchView[]
}

/**
 * Rentals and attempts in progress are cancelled, which destroys their instances: nothing ran on them yet. All other
 * instances that run, boot, or would run again by themselves (outbid, or offline) are stopped. Watches that rent are
 * paused.
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
