import * as v from 'valibot'
import { RunId } from '#shared/automation/run.ts'
import { InstanceId } from '#shared/ids.ts'
import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'

/** What a run had on a machine that it leaves. Times in epoch seconds of the account's time. */
export const Leave = v.object({
  instance: InstanceId,
  since: v.number(),
  /** How long it is kept at most. */
  until: v.number(),
  /** Seconds of training that are nowhere else. */
  seconds: v.number(),
  /** Its command there. */
  program: v.optional(RunId),
  /** The absolute path of its folder there, and in it those of its results. */
  folder: v.optional(v.string()),
  paths: v.array(v.string()),
  /** Micro-dollars that the machine had cost. */
  before: v.number(),
  /** Until when it goes on running, so that its files can be taken from it, where its user moves the run. */
  runsUntil: v.optional(v.number()),
  /** Polls lack it, and it may return. */
  missing: v.optional(v.literal(true)),
  /** Its command was ended while nothing was being written, so that no file is half. */
  whole: v.optional(v.boolean()),
})
export type Leave = v.InferOutput<typeof Leave>

/** A machine that a run left, which is kept for what only it has. */
export const Departure = v.object({
  ...Leave.entries,
  run: RunId,
  name: v.string(),
  /** Micro-dollars since then. */
  cost: v.optional(v.number()),
  /** Since when its files are copied to the next machine. */
  copyingSince: v.optional(v.number()),
  /** brought: the run continues with its files. needless: the run no longer needs them. Else why they weren't brought. */
  fate: v.optional(v.picklist(['brought', 'needless', 'refused', 'failed', 'torn'])),
})
export type Departure = v.InferOutput<typeof Departure>

/** The machines that runs of an account have left. */
export function openStoredDepartures(context: CollectionContext): Promise<Collection<Departure, number>> {
  return openCollection(context, {
    name: 'departures',
    schema: Departure,
    key: ({ instance }) => instance,
    // Without its paths nothing can be brought, but it still ends.
    rescue: {
      instead: { seconds: 0, paths: [], before: 0, name: 'a run', since: 0, until: 0 },
      keep: departure => departure,
    },
  })
}
