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

/** What is deleted: an API key, a volume, or the private network of a run's machines. */
export const DeletionKind = v.picklist(['apiKey', 'volume', 'overlay'])
export type DeletionKind = v.InferOutput<typeof DeletionKind>

/** A deletion that was requested and that no later list shows yet. */
export type DeletionView = Pick<EndingView, 'phase' | 'since' | 'problem'>

const words: Record<EndingAction | 'delete', { requested: string; retrying: string }> = {
  stop: { requested: 'Stopping…', retrying: 'Not stopped yet, retrying' },
  destroy: { requested: 'Destroying…', retrying: 'Not destroyed yet, retrying' },
  delete: { requested: 'Deleting…', retrying: 'Not deleted yet, retrying' },
}

/** *Stopping…*, then *Not stopped yet, retrying*. */
export function endingWords({
  action,
  phase,
}: {
  action: EndingAction | 'delete'
  phase: EndingPhase
}): string {
  return words[action][phase === 'requested' ? 'requested' : 'retrying']
}
