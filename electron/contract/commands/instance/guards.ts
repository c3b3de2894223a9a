import * as v from 'valibot'
import { GuardId, type GuardPreview, snoozes } from '../../automation/guard.ts'
import { GuardRequest } from '../../automation/guard-kinds.ts'
import { InstanceId } from '../../ids.ts'
import type { Problem } from '../../problem.ts'
import { account, command } from '../command.ts'

/** Without an instance it is a guard on the whole account. */
const guardFields = {
  account,
  instance: v.optional(InstanceId),
  when: GuardRequest,
  action: v.picklist(['stop', 'destroy']),
}

const onGuard = { account, guard: GuardId }

/** Stopping and destroying that Berth does by itself, where the user has said so beforehand. */
export const guardCommands = {
  /** Answers with its id once it is on disk. With `guard`, it takes that one's place. */
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
  /** What such a guard would do, and when. */
  previewGuard: command(guardFields).answers<GuardPreview>(),
  /** Off, it stays on the list and does nothing; on again, a while begins anew. Throws `guard_ended`. */
  switchGuard: command({ ...onGuard, on: v.boolean() }).answers<void>(),
  removeGuard: command(onGuard).answers<void>(),
  /** Moves its moment by so many minutes; null takes all of that back. */
  snoozeGuard: command({ ...onGuard, minutes: v.nullable(v.picklist(snoozes)) }).answers<void>(),
  /**
   * Stops all that runs or is about to, and cancels every rental under way. Answers with what could not be, and with the
   * permission that the key lacks for it, where that is why.
   */
  stopEverything: command({ account }).answers<{
    stopped: number
    cancelled: number
    failed: readonly string[]
    lacking?: Problem
  }>(),
}
