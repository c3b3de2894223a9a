import * as v from 'valibot'

/** What ends an instance's cost: stopped, only its disk is billed; destroyed, nothing is. */
export const EndingAction = v.picklist(['stop', 'destroy'])
export type EndingAction = v.InferOutput<typeof EndingAction>

/**
 * How far a stop or destroy is that no fresh reading has shown yet:
 * - `requested`: it was requested, and the service may need some seconds;
 * - `retrying`: a request failed, or did nothing, and Berth repeats it;
 * - `urgent`: it has been repeated for so long that the user was alerted.
 */
export type EndingPhase = 'requested' | 'retrying' | 'urgent'

/** A stop or destroy that was requested and is not seen yet. */
export interface EndingView {
  action: EndingAction
  phase: EndingPhase
  /** When it was wanted, epoch seconds of the account's time. */
  since: number
  /** The number of requests so far. */
  requests: number
  /** The last request's failure, a sentence; absent where the service accepted it. */
  problem?: string
}

const words: Record<EndingAction, { requested: string; retrying: string }> = {
  stop: { requested: 'Stopping…', retrying: 'Not stopped yet, retrying' },
  destroy: { requested: 'Destroying…', retrying: 'Not destroyed yet, retrying' },
}

/** *Stopping…*, then *Not stopped yet, retrying*. */
export function endingWords({ action, phase }: Pick<EndingView, 'action' | 'phase'>): string {
  return words[action][phase === 'requested' ? 'requested' : 'retrying']
}
