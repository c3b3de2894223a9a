import * as v from 'valibot'

const Side = v.object({ instance: v.optional(v.number()), path: v.string() })

/** A transfer as it is remembered: what the page sees, and what following it needs. No secret is in it. */
export const Transfer = v.object({
  id: v.string(),
  kind: v.picklist(['copy', 'sync']),
  direction: v.optional(v.picklist(['Instance To Cloud', 'Cloud To Instance'])),
  from: Side,
  to: Side,
  step: v.picklist(['starting', 'running', 'done', 'failed', 'cancelled', 'unknown']),
  message: v.optional(v.string()),
  progress: v.optional(v.number()),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  resultUrl: v.optional(v.string()),
  key: v.optional(
    v.object({
      id: v.number(),
      name: v.string(),
      state: v.picklist(['in-use', 'deleted', 'stays']),
      scoped: v.boolean(),
    }),
  ),
  /** A key was asked for, under the transfer's name; whether it was made is known once `key` is there. */
  keyAsked: v.optional(v.boolean()),
  /** When the status line spoke of it last, epoch seconds. */
  reportedAt: v.optional(v.number()),
  /** The user has taken it off the list; it is remembered until its key is gone. */
  dismissed: v.optional(v.boolean()),
})
export type Transfer = v.InferOutput<typeof Transfer>

/** The instances whose status lines may tell of it. */
export function instancesOf({ from, to }: Pick<Transfer, 'from' | 'to'>): number[] {
  return [...new Set([to.instance, from.instance].filter(id => id !== undefined))]
}
