import * as v from 'valibot'

/** What an account's user has been told already. Kept on disk, so that nothing is said twice. */
export const AlertedState = v.object({
  /** Low credit was said and the credit has not recovered since. */
  lowCredit: v.boolean(),
  /** The state of each instance when it was last looked at, by id. */
  instances: v.record(v.string(), v.string()),
  /** The ends of contracts that were warned of, epoch seconds by instance. */
  contractEnds: v.optional(v.record(v.string(), v.number())),
  /** Instances whose disk was said to be nearly full, and has not been relieved since. */
  fullDisks: v.optional(v.array(v.number())),
})
export type AlertedState = v.InferOutput<typeof AlertedState>
