import { type Capabilities, describedCapabilities } from '#shared/account/capabilities.ts'
import { bidsTooLow } from '#shared/automation/bid.ts'
import { type InstanceState, type StateRequest, startFailure } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'

/** A record's facts about its state. Prices in dollars per hour. */
export interface ServiceStatus {
  actualStatus: string | null
  /** The state on the service now, and the one it is changing to. */
  currentState?: string
  nextState?: string
  intendedStatus?: string
  statusMessage?: string
  interruptible: boolean
  bid?: number
  minimumBid?: number
}

type StateHabits = Pick<Capabilities, 'restartsExited' | 'showsOutbidAsStopped'>

/** Facts beyond the record, from the instance's last view. Times in epoch seconds of the account's time. */
export interface Past {
  state: InstanceState
  /** Since when it is in that state. */
  since: number
  intendedStatus?: string
  /** Berth's last request for it. */
  stateRequest?: StateRequest
  /** Whether it was seen booting and never running, so that its container has not run. */
  firstBoot: boolean
  /** Whether it was seen so lately that little can have happened unseen. */
  unbroken: boolean
}

/** Seconds after which a start that has no GPU yet waits for one: it is probably rented to someone else. */
const gpuAfter = 30
/** Seconds after which a container that exited counts as crashed, where the deployment may start it again. */
const crashedAfter = 60

/**
 * An instance's state at `at` (section 3.1, and additions of deployments), from its record, its last view and Berth's
 * requests.
 */
export function instanceState(
  status: ServiceStatus,
  past?: Past,
  at = 0,
  habits: StateHabits = describedCapabilities,
): InstanceState {
  const { actualStatus, intendedStatus, currentState } = status
  const wantedStopped = intendedStatus === 'stopped'
  switch (actualStatus) {
    case null:
    case 'created':
      if (isOutbid(status)) return 'outbid'
      if (wantedStopped) return 'stopped'
      if (actualStatus === 'created' && startFailure(status.statusMessage)) return 'unstartable'
      return isScheduled(status, past) ? scheduled(past, at) : 'provisioning'
    case 'loading':
      return wantedStopped ? 'stopping' : 'loading'
    case 'running':
      return wantedStopped ? 'stopping' : 'running'
    case 'frozen':
      return wantedStopped ? 'stopping' : 'frozen'
    case 'stopping':
    case 'destroying':
    case 'offline':
      return actualStatus
    case 'rebooting':
    case 'recycling':
      return 'restarting'
    case 'stopped':
      if (isOutbid(status) || wasOutbid(status, past, habits)) return 'outbid'
      return intendedStatus === 'running' || isScheduled(status, past) ? scheduled(past, at) : 'stopped'
    case 'exited':
      // A container that crashed still has its GPUs.
      if (currentState !== 'running' && (isOutbid(status) || wasOutbid(status, past, habits))) return 'outbid'
      if (isScheduled(status, past)) return scheduled(past, at)
      if (wantedStopped || currentState === 'stopped') return 'stopped'
      if (intendedStatus === undefined && currentState === undefined) return untoldExit(past, at)
      return habits.restartsExited ? exited(past, at) : 'crashed'
    case 'unknown':
      return 'silent'
    default:
      return 'other'
  }
}

/** Stopped though it is meant to run, with a bid below the lowest that runs. */
function isOutbid(status: ServiceStatus): boolean {
  return status.intendedStatus === 'running' && bidsTooLow(status)
}

/**
 * Some services report outbid instances as stopped. We can only tell if it was starting or running a moment ago, Berth
 * did not stop it, and its bid is too low. The result holds until one of these changes.
 */
function wasOutbid(status: ServiceStatus, past: Past | undefined, habits: StateHabits): boolean {
  if (!habits.showsOutbidAsStopped || !past || !bidsTooLow(status)) return false
  if (past.stateRequest?.state === 'stopped') return false
  if (status.intendedStatus === 'running') return false
  // Meant to run while it was outbid, and now to be stopped: that is the user's doing.
  if (past.state === 'outbid') return past.intendedStatus !== 'running'
  return past.unbroken && (past.state === 'running' || hasTrait(past.state, 'onItsWay'))
}

/** Whether it was started and has no GPU yet. */
function isScheduled(
  { currentState, nextState, intendedStatus }: ServiceStatus,
  past: Past | undefined,
): boolean {
  if (currentState !== 'stopped' || nextState !== 'running') return false
  return intendedStatus === 'running' || past?.stateRequest?.state === 'running'
}

function scheduled(past: Past | undefined, at: number): InstanceState {
  if (past?.state === 'waiting' || past?.stateRequest?.queued) return 'waiting'
  return past?.state === 'provisioning' && at - past.since >= gpuAfter ? 'waiting' : 'provisioning'
}

/**
 * The exit of an instance whose record says nothing else, as in section 2.1. Only Berth's own stops are known, and only
 * an instance that has not run yet was surely not stopped elsewhere.
 */
function untoldExit(past: Past | undefined, at: number): InstanceState {
  if (!past) return 'ended'
  const { state, stateRequest, firstBoot, unbroken } = past
  if (stateRequest?.state === 'stopped') return 'stopped'
  if (stateRequest) return at - stateRequest.at < crashedAfter ? 'provisioning' : 'ended'
  if (unbroken && (state === 'stopping' || state === 'stopped')) return 'stopped'
  const brokeOff = unbroken && hasTrait(state, 'booting')
  return firstBoot && (brokeOff || state === 'crashed') ? 'crashed' : 'ended'
}

/** Just started, the record may still show the exit of the last time. */
function exited(past: Past | undefined, at: number): InstanceState {
  switch (past?.state) {
    case 'stopped':
    case 'outbid':
    case 'waiting':
    case 'ended':
      return 'provisioning'
    case 'provisioning':
      return at - past.since < crashedAfter ? 'provisioning' : 'exited'
    case 'exited':
      return at - past.since < crashedAfter ? 'exited' : 'crashed'
    case 'crashed':
      return 'crashed'
    default:
      return 'exited'
  }
}

/** Whether time alone makes another state of it, though its record stays the same. */
export function passes(state: InstanceState): boolean {
  return state === 'provisioning' || state === 'exited'
}

/** Percent of load: below, a GPU computes nothing that could be lost. */
export const idleBelow = 5
