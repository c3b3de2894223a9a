import * as v from 'valibot'
import { type Limit, leastDollars } from '../automation/limit.ts'
import { duration } from '../format/time.ts'
import { type Micros, micros } from '../spending/money.ts'

const form = 'must be a time from 1s to 10m, such as 60s'

/** `90s`, `2m`: in seconds. */
const Seconds = v.pipe(
  v.string(form),
  v.regex(/^\d{1,4}[sm]$/, form),
  v.transform(text => Number(text.slice(0, -1)) * (text.endsWith('m') ? 60 : 1)),
  v.minValue(1, form),
  v.maxValue(600, form),
)

/** What happens before the machine of a running command is stopped, and how long the stop waits for it at most. */
export const BeforeStop = v.strictObject({
  signal: v.optional(v.picklist(['TERM', 'USR1', 'USR2'], 'is TERM, USR1 or USR2')),
  run: v.optional(
    v.pipe(v.string('must be commands'), v.trim(), v.nonEmpty('is empty'), v.maxLength(65_536)),
  ),
  at_most: v.optional(Seconds),
})
export type BeforeStop = v.InferOutput<typeof BeforeStop>

/** The same with the defaults in place of what is absent. */
export function noticeOf(before: BeforeStop) {
  return { signal: before.signal ?? 'TERM', run: before.run, seconds: before.at_most ?? 60 } as const
}

/** In the notation of `berth.yaml`. */
export function beforeStopDraft(before: BeforeStop | undefined) {
  return before && { ...before, at_most: before.at_most === undefined ? undefined : `${before.at_most}s` }
}

/**
 * The limits of a machine whose command has time before a stop: they act so much earlier, as the time is part of what was
 * agreed. `price`: micro-dollars per hour at most.
 */
export function limitsBeforeStop(
  limits: readonly Limit[],
  before: BeforeStop | undefined,
  price: Micros | undefined,
): Limit[] {
  if (!before) return [...limits]
  const { seconds } = noticeOf(before)
  const reserve = noticeCost(before, price) / 1_000_000
  return limits.map(limit => {
    const { when } = limit
    if (when.kind === 'duration')
      return { ...limit, when: { ...when, seconds: Math.max(60, when.seconds - seconds) } }
    if (when.kind === 'cost')
      return { ...limit, when: { ...when, dollars: Math.max(leastDollars, when.dollars - reserve) } }
    return limit
  })
}

/** What the time before a stop costs at most, in micro-dollars. */
export function noticeCost(before: BeforeStop | undefined, price: Micros | undefined): Micros {
  return before && price !== undefined ? Math.ceil((price * noticeOf(before).seconds) / 3600) : 0
}

/** Why the time before a stop doesn't fit into the limits; undefined where it does. */
export function noticeProblem(
  limits: readonly Limit[],
  before: BeforeStop | undefined,
  price: Micros | undefined,
): string | undefined {
  if (!before) return undefined
  const { seconds } = noticeOf(before)
  const isTooLong = limits.some(({ when }) => {
    if (when.kind === 'duration') return when.seconds < Math.max(2 * seconds, seconds + 60)
    return when.kind === 'cost' && micros(when.dollars) < 2 * noticeCost(before, price) + micros(leastDollars)
  })
  return isTooLong
    ? `before_stop may take ${duration(seconds)}, more than half of what stop allows`
    : undefined
}

/** The sentences of a plan on what happens before a stop. */
export function beforeStopWords(before: BeforeStop | undefined, hasLimits: boolean): string[] {
  if (!before) return []
  const { signal, run, seconds } = noticeOf(before)
  const hook =
    run === undefined ? '' : ` and Berth runs ${run.includes('\n') ? 'the commands of before_stop' : run}`
  return [
    `Before a stop by a limit or by you, the command gets SIG${signal}${hook}, ${duration(seconds)} at most.${
      hasLimits ? ' Limits act that much earlier, so the maximum holds.' : ''
    }`,
  ]
}
