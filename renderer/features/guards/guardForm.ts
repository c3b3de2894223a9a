import type { GuardCondition, GuardView } from '../../../electron/contract/automation/guard.ts'
import type { Args } from '../../../electron/contract/commands.ts'
import { isoDay } from '../../../electron/contract/format/calendar.ts'
import { timeOfDay } from '../../../electron/contract/format/time.ts'
import { typedNumber } from '../../components/fields/numbers.ts'

export type GuardKind = 'time' | 'duration' | 'idle' | 'cost' | 'day' | 'month' | 'credit'

/** What the dialog holds: as it is typed. */
export interface GuardDraft {
  kind: GuardKind
  /** `2026-11-21T18:00`, by this machine's calendar. */
  time: string
  hours: string
  /** Percent. */
  load: string
  minutes: string
  dollars: string
  creditHours: string
  action: 'stop' | 'destroy'
  /** Minutes ahead. */
  warning: string
  missed: 'act' | 'tell'
}

export const instanceKinds: readonly { value: GuardKind; label: string }[] = [
  { value: 'time', label: 'At a time' },
  { value: 'duration', label: 'After a while' },
  { value: 'idle', label: 'When it is idle' },
  { value: 'cost', label: 'When it has cost so much' },
]

export const accountKinds: readonly { value: GuardKind; label: string }[] = [
  { value: 'day', label: 'When a day has cost so much' },
  { value: 'month', label: 'When a month has cost so much' },
  { value: 'credit', label: 'When the credit runs low' },
]

export const warnings = [
  { value: '0', label: 'Not at all' },
  { value: '5', label: '5 minutes ahead' },
  { value: '15', label: '15 minutes ahead' },
  { value: '30', label: '30 minutes ahead' },
  { value: '60', label: '1 hour ahead' },
]

export const whenMissed: readonly { value: 'act' | 'tell'; label: string }[] = [
  { value: 'act', label: 'Act on waking' },
  { value: 'tell', label: 'Only tell me' },
]

/** A new guard's draft. `now` in epoch seconds of the account's time: the next full hour but one is offered. */
export function emptyGuardDraft(kind: GuardKind, now: number): GuardDraft {
  return {
    kind,
    time: localTime(Math.ceil(now / 3600) * 3600 + 3600),
    hours: '4',
    load: '5',
    minutes: '30',
    dollars: '10',
    creditHours: '6',
    action: 'stop',
    warning: '15',
    missed: 'act',
  }
}

/** The draft of a guard that is there already: a moment that was moved by a snooze, and hours that are left. */
export function guardDraft(
  { condition, action, warning, missed, dueAt }: GuardView,
  now: number,
): GuardDraft {
  const kind = condition.kind === 'budget' ? condition.per : condition.kind
  const draft = { ...emptyGuardDraft(kind, now), action, missed, warning: String(warning / 60) }
  switch (condition.kind) {
    case 'time':
      return { ...draft, time: localTime(dueAt ?? condition.at) }
    case 'duration':
      return { ...draft, hours: hoursLeft(dueAt ?? condition.from + condition.seconds, now) }
    case 'idle':
      return { ...draft, load: String(condition.below), minutes: String(condition.seconds / 60) }
    case 'cost':
    case 'budget':
      return { ...draft, dollars: String(condition.limit / 1_000_000) }
    case 'credit':
      return { ...draft, creditHours: String(condition.hours) }
  }
}

/** With what is left, nothing moves where only the warning is changed. */
function hoursLeft(at: number, now: number): string {
  return String(Math.max(leastHours, Math.round((at - now) / 36) / 100))
}

/** About a minute. */
const leastHours = 0.02

type Wish = Omit<Args<'setGuard'>, 'account' | 'guard' | 'instance'>

/** What to ask for, or what is wrong, by field. */
export function readGuardDraft(
  draft: GuardDraft,
): { wish: Wish } | { errors: Partial<Record<keyof GuardDraft, string>> } {
  const { action, missed } = draft
  const errors: Partial<Record<keyof GuardDraft, string>> = {}
  const number = (
    field: 'hours' | 'load' | 'minutes' | 'dollars' | 'creditHours',
    least: number,
    most: number,
  ) => {
    const value = typedNumber(draft[field]) ?? Number.NaN
    if (!(value >= least && value <= most))
      errors[field] = `Give a number from ${least} to ${most.toLocaleString('en-US')}.`
    return value
  }
  const when = (): Wish['when'] => {
    switch (draft.kind) {
      case 'time': {
        const at = new Date(draft.time).getTime() / 1000
        if (Number.isNaN(at)) errors.time = 'Give a date and a time.'
        return { kind: 'time', at }
      }
      case 'duration':
        return { kind: 'duration', seconds: Math.round(number('hours', leastHours, 8760) * 3600) }
      case 'idle':
        return {
          kind: 'idle',
          below: number('load', 1, 100),
          seconds: Math.round(number('minutes', 1, 10_080) * 60),
        }
      case 'cost':
        return { kind: 'cost', limit: number('dollars', 0.01, 1_000_000) }
      case 'day':
      case 'month':
        return { kind: 'budget', per: draft.kind, limit: number('dollars', 0.01, 1_000_000) }
      case 'credit':
        return { kind: 'credit', hours: number('creditHours', 0.1, 10_000) }
    }
  }
  const wish = { when: when(), action, missed, warning: Number(draft.warning) * 60 }
  return Object.keys(errors).length > 0 ? { errors } : { wish }
}

/** What a guard that is set at `now` waits for. Epoch seconds of the account's time. */
export function conditionNow(when: Wish['when'], now: number): GuardCondition {
  return when.kind === 'duration' ? { ...when, from: now } : when
}

/** As a field for date and time wants it: `2026-11-21T18:00`, by this machine's calendar. Epoch seconds. */
function localTime(at: number): string {
  return `${isoDay(new Date(at * 1000))}T${timeOfDay(at)}`
}
