import { type GuardView, hasEnded } from '#contract/automation/guard.ts'
import { money } from '#contract/format/money.ts'
import { atMoment, duration, moment } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import { spentBy } from '#contract/reading.ts'
import { isNear } from '#renderer/features/guards/guardWords.ts'

/** A guard that counts now: the used share, and the rest in words. */
export interface GuardChip {
  guard: string
  /** 0 to 1. */
  share: number
  /** The text before the bold part, such as `until`. */
  before: string
  strong: string
  after: string
  /** The time left, shown where there is room. */
  left: string
  /** Whether it acts within half an hour. */
  soon: boolean
}

/** Seconds before a guard acts from which it stands out, so that the user can still answer. */
const standsOut = 1800

/** The guards on an instance that count now, or wait to act, the next one first. */
export function countingGuards(guards: readonly GuardView[], instance: InstanceView): GuardView[] {
  const { state } = instance
  const ended = state === 'outbid' || hasTrait(state, 'over')
  return guards
    .filter(guard => guard.instance === instance.id && !hasEnded(guard))
    .filter(guard => isNear(guard) || guard.dueAt !== undefined)
    .filter(({ action, step }) => step === 'acting' || action === 'destroy' || !ended)
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
}

/** `now`: epoch seconds of the account's time. Undefined for a guard that does not count now. */
export function guardChip(guard: GuardView, instance: InstanceView, now: number): GuardChip | undefined {
  const { id, condition, dueAt } = guard
  if (dueAt === undefined) return undefined
  const seconds = Math.max(0, dueAt - now)
  const left = duration(seconds)
  const chip = { guard: id, before: '', after: '', left: '', soon: seconds <= standsOut }
  switch (condition.kind) {
    case 'idle':
      if (isPutOff(guard)) return { ...chip, share: 0, before: 'kept on, ', strong: left, after: ' left' }
      return {
        ...chip,
        share: share(1 - seconds / condition.seconds),
        before: 'idle, ',
        strong: left,
        after: ' left',
      }
    case 'cost': {
      const spent = spentBy(instance, now)
      const words = { strong: money(spent), after: ` of ${money(condition.limit)}`, left }
      return { ...chip, ...words, share: share(spent / condition.limit) }
    }
    case 'time':
    case 'duration': {
      const from = condition.kind === 'duration' ? condition.from : (instance.startedAt ?? now)
      const passed = (now - from) / Math.max(1, dueAt - from)
      return { ...chip, share: share(passed), before: 'until ', strong: moment(dueAt, now), left }
    }
    default:
      return undefined
  }
}

/** Whether it acts when its snooze ends; after a later start of the idle time it acts later. */
function isPutOff({ dueAt, snoozedUntil }: GuardView): boolean {
  return snoozedUntil !== undefined && dueAt === snoozedUntil
}

function share(value: number): number {
  return Math.min(1, Math.max(0, value))
}

/** The guard's action, with its time and reason: `Next: stops at 15:19, when it has cost $9.00.` */
export function nextWords(guard: GuardView, now: number): string {
  const { action, condition, dueAt, problem, step } = guard
  const doing = action === 'destroy' ? 'destroys it' : 'stops'
  if (step === 'acting') return action === 'destroy' ? 'Destroying it now.' : 'Stopping it now.'
  if (problem) return problem.message
  if (dueAt === undefined) return ''
  const when = dueAt <= now ? 'as soon as the service answers' : `${atMoment(dueAt, now)}`
  switch (condition.kind) {
    case 'idle':
      if (isPutOff(guard))
        return `Kept running until ${moment(dueAt, now)}: ${doing} then if it is still idle.`
      return `Idle since ${moment(dueAt - condition.seconds, now)}: ${doing} ${when}.`
    case 'cost':
      if (isPutOff(guard))
        return `Kept running until ${moment(dueAt, now)}: ${doing} then, beyond its ${money(condition.limit)}.`
      return `Next: ${doing} ${when}, when it has cost ${money(condition.limit)}.`
    case 'duration':
      return `Next: ${doing} ${when}, after ${duration(condition.seconds)}.`
    default:
      return `Next: ${doing} ${when}.`
  }
}

/** Whether the button *Keep running* belongs beside the words. */
export function wantsAnswer(guard: GuardView, now: number): boolean {
  return isNear(guard) || (guard.dueAt !== undefined && guard.dueAt - now <= standsOut)
}
