import type { InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import { isRenting, type RentalView } from '../market/rental-view.ts'
import { runsOnceBack } from '../reading.ts'
import type { AccountView } from '../state.ts'
import type { WatchView } from './watch.ts'

/** The targets of "stop everything": all that costs GPU time now, or would without the user. */
export interface Everything {
  instances: readonly InstanceView[]
  rentals: readonly RentalView[]
  /** Watches that rent automatically. */
  watches: readonly WatchView[]
}

/**
 * Rentals in progress are cancelled, which destroys their instances: nothing ran on them yet. All other instances that
 * run, boot, or would restart automatically (outbid, or offline) are stopped. Watches that rent are paused.
 */
export function everything(account: Pick<AccountView, 'instances' | 'rentals' | 'watches'>): Everything {
  const rentals = Object.values(account.rentals).filter(one => isRenting(one) && !one.cancelling)
  const taken = new Set(rentals.map(({ instance }) => instance))
  return {
    instances: Object.values(account.instances).filter(one => mayRun(one) && !taken.has(one.id)),
    rentals,
    watches: Object.values(account.watches).filter(({ rents, paused }) => rents && !paused),
  }
}

function mayRun(instance: InstanceView): boolean {
  const { state } = instance
  if (state === 'offline') return runsOnceBack(instance)
  return !hasTrait(state, 'over')
}
