import * as v from 'valibot'
import { Limit, type LimitPreview, snoozes } from '#contract/automation/limit.ts'
import { InstanceId, LimitId } from '#contract/ids.ts'
import type { Problem } from '#contract/problem.ts'
import { account, command } from '../command.ts'

/** Without `instance`, a limit on the whole account. */
const limitFields = {
  account,
  instance: v.optional(InstanceId),
  ...Limit.entries,
  asleep: v.optional(v.boolean(), false),
}

const onLimit = { account, limit: LimitId }

/** Limits, and stopping everything. */
export const limitCommands = {
  /** Answers its id once it is on disk. `limit`: the one to replace. */
  setLimit: command({
    ...limitFields,
    limit: v.optional(LimitId),
    /** Seconds ahead. */
    warning: v.pipe(
      v.number('give the warning in minutes'),
      v.minValue(0),
      v.maxValue(86_400, 'at most a day ahead'),
    ),
    missed: v.picklist(['act', 'tell']),
  }).answers<string>(),
  previewLimit: command(limitFields).answers<LimitPreview>(),
  /** A limit that is off does nothing and stays on the list; on again, its time starts anew. Throws `limit_ended`. */
  switchLimit: command({ ...onLimit, on: v.boolean() }).answers<void>(),
  /**
   * Lets a watchdog on its instance do the same while this computer sleeps, or no longer. Throws `no_instance_key`,
   * `no_http_tool`, `gpu_load_unread`, `no_posix_shell` or `disk_full`, and `invalid_argument` where it cannot.
   */
  watchLimit: command({ ...onLimit, asleep: v.boolean() }).answers<void>(),
  removeLimit: command(onLimit).answers<void>(),
  /** Moves its moment by these minutes; null ends all snoozing. */
  snoozeLimit: command({ ...onLimit, minutes: v.nullable(v.picklist(snoozes)) }).answers<void>(),
  /**
   * Stops all instances that run or will, cancels rentals in progress, and pauses watches that rent. `failed`: the
   * names of those that could not be ended; `lacking`: the permission or the login that the key lacks, if that is why.
   */
  stopEverything: command({ account }).answers<{
    stopped: number
    cancelled: number
    failed: readonly string[]
    lacking?: Problem
  }>(),
}
