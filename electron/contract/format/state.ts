import type { InstanceState } from '../instance/instance.ts'

const words: Record<InstanceState, string> = {
  provisioning: 'Starting',
  loading: 'Loading',
  running: 'Running',
  restarting: 'Restarting',
  frozen: 'Frozen',
  stopping: 'Stopping',
  stopped: 'Stopped',
  waiting: 'Waiting',
  outbid: 'Outbid',
  exited: 'Exited',
  ended: 'Exited',
  crashed: 'Crashed',
  unstartable: 'Cannot start',
  silent: 'Silent',
  offline: 'Offline',
  destroying: 'Destroying',
  other: 'Unknown',
}

/** An instance's state in a word or two; for a state that Berth does not know, the service's own word. */
export function stateWord(state: InstanceState, actualStatus: string | null): string {
  if (state !== 'other' || !actualStatus) return words[state]
  return actualStatus.charAt(0).toUpperCase() + actualStatus.slice(1, 24)
}
