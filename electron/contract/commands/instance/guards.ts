import * as v from 'valibot'
import { type GuardPreview, snoozes } from '#contract/automation/guard.ts'
import { GuardRequest } from '#contract/automation/guard-kinds.ts'
import { GuardId, InstanceId } from '#contract/ids.ts'
import type { Problem } from '#contract/problem.ts'
import { account, command } from '../command.ts'

/** Without `instance`, a guard on the whole account. */
const guardFields = {
  account,
  instance: v.optional(InstanceId),
  when: GuardRequest,
  action: v.picklist(['stop', 'destroy']),
}

const onGuard = { account, guard: GuardId }

/** Guards, and stopping everything. */
export const guardCommands = {
  /** Answers its id once it is on disk. `guard`: the one to replace. */
  setGuard: command({
    ...guardFields,
    guard: v.optional(GuardId),
    /** Seconds ahead. */
    warning: v.pipe(
      v.number('give the warning in minutes'),
      v.minValue(0),
      v.maxValue(86_400, 'at most a day ahead'),
    ),
    missed: v.picklist(['act', 'tell']),
  }).answers<string>(),
  previewGuard: command(guardFields).answers<GuardPreview>(),
  /** A guard that is off does nothing and stays on the list; on again, its time starts anew. Throws `guard_ended`. */
  switchGuard: command({ ...onGuard, on: v.boolean() }).answers<void>(),
  removeGuard: command(onGuard).answers<void>(),
  /** Moves its moment by these minutes; null ends all snoozing. */
  snoozeGuard: command({ ...onGuard, minutes: v.nullable(v.picklist(snoozes)) }).answers<void>(),
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
