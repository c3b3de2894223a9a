import * as v from 'valibot'

/** What the user has been alerted of, per account. Stored, so that no alert is repeated. */
export const AlertedState = v.object({
  /** Whether low credit was reported and has not recovered since. */
  lowCredit: v.boolean(),
  /** Whether credit below zero, with something charged, was reported and has not risen above zero since. */
  belowZero: v.optional(v.boolean()),
  /** The state of each instance at the last poll, by id. */
  instances: v.record(v.string(), v.string()),
  /** The contract ends that were warned of, epoch seconds by instance. */
  contractEnds: v.optional(v.record(v.string(), v.number())),
  /** Instances whose nearly full disk was reported and has not been relieved since. */
  fullDisks: v.optional(v.array(v.number())),
})
export type AlertedState = v.InferOutput<typeof AlertedState>
