import type { InstanceView } from '../instance.ts'
import type { RentalView } from '../rental.ts'
import type { AccountView } from '../state.ts'

/** What "stop everything" stops and cancels: what costs GPUs now, or would by itself. */
export interface Everything {
  instances: readonly InstanceView[]
  rentals: readonly RentalView[]
}

/**
 * Rentals under way are cancelled, and what they have created goes with them: nothing ran on it. All else that runs,
 * is about to, or was outbid and would run again by itself, is stopped.
 */
export function everything({ instances, rentals }: Pick<AccountView, 'instances' | 'rentals'>): Everything {
  const underWay = Object.values(rentals).filter(isUnderWay)
  const rented = new Set(underWay.map(({ instance }) => instance))
  return {
    instances: Object.values(instances).filter(instance => mayRun(instance) && !rented.has(instance.id)),
    rentals: underWay,
  }
}

function isUnderWay({ step }: RentalView): boolean {
  return step !== 'running' && step !== 'failed' && step !== 'cancelled'
}

function mayRun({ state }: InstanceView): boolean {
  return !['stopped', 'stopping', 'crashed', 'offline'].includes(state)
}
