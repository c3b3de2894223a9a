import type { InstanceState } from '../../contract/instance/instance.ts'

/** What the state of an instance depends on. Prices in dollars per hour. */
export interface Standing {
  actualStatus: string | null
  intendedStatus?: string
  interruptible: boolean
  bid?: number
  minimumBid?: number
}

/**
 * Where an instance stands (section 3.1, and the further values deployments send). One that was outbid is stopped
 * though the user wants it running and its bid is below the lowest that runs.
 */
export function instanceState(standing: Standing): InstanceState {
  const { actualStatus, intendedStatus } = standing
  const wantedStopped = intendedStatus === 'stopped'
  switch (actualStatus) {
    case null:
    case 'created':
      return isOutbid(standing) ? 'outbid' : wantedStopped ? 'stopped' : 'provisioning'
    case 'loading':
      return wantedStopped ? 'stopping' : 'loading'
    case 'running':
      return wantedStopped ? 'stopping' : 'running'
    case 'stopping':
      return 'stopping'
    case 'stopped':
      if (intendedStatus !== 'running') return 'stopped'
      return isOutbid(standing) ? 'outbid' : 'provisioning'
    case 'exited':
      return wantedStopped ? 'stopped' : 'crashed'
    case 'unknown':
      return 'silent'
    case 'offline':
      return 'offline'
    default:
      return 'other'
  }
}

function isOutbid({ interruptible, bid, minimumBid, intendedStatus }: Standing): boolean {
  if (!interruptible || intendedStatus !== 'running') return false
  return bid !== undefined && minimumBid !== undefined && minimumBid > bid
}
