import * as v from 'valibot'

const Side = v.object({ instance: v.optional(v.number()), path: v.string() })

/** A transfer as stored: the page's view, and the fields to follow it. It contains no secrets. */
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
  /** A key was requested under the transfer's name; whether it exists is unknown until `key` is set. */
  keyAsked: v.optional(v.boolean()),
  /** When the status line last reported on it, epoch seconds. */
  reportedAt: v.optional(v.number()),
  /** The user removed it from the list; it is kept until its key is deleted. */
  dismissed: v.optional(v.boolean()),
})
export type Transfer = v.InferOutput<typeof Transfer>

/** The instances whose status lines may report on it. */
export function instancesOf({ from, to }: Pick<Transfer, 'from' | 'to'>): number[] {
  return [...new Set([to.instance, from.instance].filter(id => id !== undefined))]
}
