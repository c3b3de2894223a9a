import * as v from 'valibot'
import { GuardId, type GuardPreview, snoozes } from '../../automation/guard.ts'
import { InstanceId } from '../../ids.ts'
import type { Problem } from '../../problem.ts'
import { micros } from '../../spending/money.ts'
import { account, command } from '../command.ts'

/** Comes in as dollars, and is micro-dollars from here on. */
const Dollars = v.pipe(
  v.number('give the sum in dollars'),
  v.minValue(0.01, 'at least $0.01'),
  v.maxValue(1_000_000, 'at most $1,000,000'),
  v.transform(micros),
)

const Span = v.pipe(
  v.number('give the time as a number'),
  v.minValue(60, 'at least a minute'),
  v.maxValue(366 * 86_400, 'at most a year'),
)

/** What the page asks a guard to wait for. Times in seconds, moments in epoch seconds of the account's time. */
const Wish = v.variant('kind', [
  v.strictObject({ kind: v.literal('time'), at: v.pipe(v.number('give a date and a time'), v.finite()) }),
  v.strictObject({ kind: v.literal('duration'), seconds: Span }),
  v.strictObject({
    kind: v.literal('idle'),
    /** Percent. */
    below: v.pipe(
      v.number('give the load in percent'),
      v.minValue(1, 'at least 1 %'),
      v.maxValue(100, 'at most 100 %'),
    ),
    seconds: Span,
  }),
  v.strictObject({ kind: v.literal('cost'), limit: Dollars }),
  v.strictObject({ kind: v.literal('budget'), per: v.picklist(['day', 'month']), limit: Dollars }),
  v.strictObject({
    kind: v.literal('credit'),
    hours: v.pipe(
      v.number('give the time in hours'),
      v.minValue(0.1, 'at least 0.1 hours'),
      v.maxValue(10_000, 'at most 10,000 hours'),
    ),
  }),
])
export type GuardWish = v.InferOutput<typeof Wish>

/** Without an instance it is a guard on the whole account. */
const wished = {
  account,
  instance: v.optional(InstanceId),
  when: Wish,
  action: v.picklist(['stop', 'destroy']),
}

const onGuard = { account, guard: GuardId }

/** Stopping and destroying that Berth does by itself, where the user has said so beforehand. */
export const guardCommands = {
  /** Answers with its id once it is on disk. With `guard`, it takes that one's place. */
  setGuard: command({
    ...wished,
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
  previewGuard: command(wished).answers<GuardPreview>(),
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
