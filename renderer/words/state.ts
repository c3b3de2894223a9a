import type { InstanceState, InstanceView } from '../../electron/contract/instance/instance.ts'
import type { RentalStep } from '../../electron/contract/market/rental.ts'

/** Running; on its way; at rest; needs you. */
export type Shape = 'running' | 'busy' | 'stopped' | 'needs-you'

const states: Record<InstanceState, { word: string; shape: Shape }> = {
  provisioning: { word: 'Starting', shape: 'busy' },
  loading: { word: 'Loading', shape: 'busy' },
  running: { word: 'Running', shape: 'running' },
  restarting: { word: 'Restarting', shape: 'busy' },
  stopping: { word: 'Stopping', shape: 'busy' },
  stopped: { word: 'Stopped', shape: 'stopped' },
  waiting: { word: 'Waiting for a GPU', shape: 'needs-you' },
  outbid: { word: 'Outbid', shape: 'needs-you' },
  exited: { word: 'Exited', shape: 'busy' },
  crashed: { word: 'Crashed', shape: 'needs-you' },
  unstartable: { word: 'Cannot start', shape: 'needs-you' },
  silent: { word: 'Silent', shape: 'needs-you' },
  offline: { word: 'Offline', shape: 'needs-you' },
  destroying: { word: 'Being destroyed', shape: 'busy' },
  other: { word: 'Unknown', shape: 'stopped' },
}

/** A state as a word and a shape; one that Berth does not know is shown by the service's own word. */
export function stateWords(
  state: InstanceState,
  actualStatus: string | null,
): { word: string; shape: Shape } {
  if (state !== 'other' || !actualStatus) return states[state]
  return { word: actualStatus.charAt(0).toUpperCase() + actualStatus.slice(1, 24), shape: 'stopped' }
}

const rentals: Record<RentalStep, { word: string; shape: Shape }> = {
  asking: { word: 'Renting', shape: 'busy' },
  lost: { word: 'Renting', shape: 'busy' },
  unclear: { word: 'Unclear', shape: 'needs-you' },
  waiting: { word: 'Renting', shape: 'busy' },
  running: { word: 'Ready', shape: 'running' },
  late: { word: 'Late', shape: 'needs-you' },
  failed: { word: 'Failed', shape: 'needs-you' },
  cancelled: { word: 'Cancelled', shape: 'stopped' },
}

export function rentalWords(step: RentalStep): { word: string; shape: Shape } {
  return rentals[step]
}

/** What people call it: its label, or else its number. */
export function instanceName(instance: Pick<InstanceView, 'id' | 'label'>): string {
  return instance.label ? `${instance.label} #${instance.id}` : `#${instance.id}`
}
