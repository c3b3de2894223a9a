import type { Args } from '#contract/commands.ts'
import { asTyped, number, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'
import {
  canBeAsleep,
  hasEnded,
  type LimitKind,
  type LimitView,
  LimitWhen,
  limitKinds,
} from '#shared/automation/limit.ts'
import { defaultWarning } from '#shared/automation/limit-defaults.ts'
import { isoDay, timeOfDay } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { limitHint } from './limitWords.ts'

/** The dialog's input. */
export interface LimitDraft {
  choice: LimitChoice
  /** Texts by field name. */
  typed: Record<string, string>
  action: 'stop' | 'destroy'
  /** Minutes ahead. */
  warning: string
  missed: 'act' | 'tell'
  asleep: boolean
}

export const warnings = [
  { value: '0', label: 'Never' },
  { value: '5', label: '5 minutes before' },
  { value: '15', label: '15 minutes before' },
  { value: '30', label: '30 minutes before' },
  { value: '60', label: '1 hour before' },
]

export const whenMissed: readonly { value: 'act' | 'tell'; label: string }[] = [
  { value: 'act', label: 'Act when it wakes' },
  { value: 'tell', label: 'Only notify me' },
]

export function choicesOn(place: 'instance' | 'account'): { value: LimitChoice; label: string }[] {
  return limitChoices.flatMap(value => {
    const { kind, label } = limitForms[value]
    return limitKinds[kind].on === place ? [{ value, label }] : []
  })
}

/** A new limit's draft. `now` in epoch seconds of the account's time. */
export function emptyLimitDraft(choice: LimitChoice, now: number): LimitDraft {
  return {
    choice,
    typed: newTyped(now),
    action: 'stop',
    warning: String(defaultWarning / 60),
    missed: 'act',
    asleep: false,
  }
}

/** The draft of a limit that is there already. */
export function limitDraft(limit: LimitView, now: number): LimitDraft {
  const { action, missed, warning, asleep } = limit
  const { choice, typed } = choiceOf(limit, now)
  return {
    choice,
    typed: { ...newTyped(now), ...typed },
    action,
    missed,
    asleep,
    warning: String(warning / 60),
  }
}

type LimitSettings = Omit<Args<'setLimit'>, 'account' | 'limit' | 'instance'>

/**
 * The request, or the errors by field. `before`: the limit that is changed, with its draft. While its condition is as
 * typed there, its moment stays, however long the form is open.
 */
export function readLimitDraft(
  draft: LimitDraft,
  before?: { limit: LimitView; draft: LimitDraft },
): ReadForm<LimitSettings> {
  const { choice, typed, action, warning, missed, asleep } = draft
  const { fields, request } = limitForms[choice]
  const others = { action, missed, warning: Number(warning) * 60 }
  if (before && !hasEnded(before.limit) && isSameCondition(draft, before.draft)) {
    const { when } = before.limit
    return { value: { when, sameWhen: true, ...others, asleep: asleep && canBeAsleep(when) } }
  }
  const when = request((name, scale) =>
    readField(
      fields.find(field => field.name === name),
      typed[name] ?? '',
      scale,
    ),
  )
  const { errors } = readForm(LimitWhen, when, path => fields.find(({ part }) => part === path)?.name ?? '')
  return errors ? { errors } : { value: { when, ...others, asleep: asleep && canBeAsleep(when) } }
}

function isSameCondition(draft: LimitDraft, before: LimitDraft): boolean {
  const isSame = ({ name }: LimitField) => draft.typed[name] === before.typed[name]
  return draft.choice === before.choice && limitForms[draft.choice].fields.every(isSame)
}

/** Whether a form was left as it was opened. */
export function isUnchanged(draft: LimitDraft, before: LimitDraft): boolean {
  const { action, warning, missed, asleep } = before
  const isSame =
    draft.action === action && draft.warning === warning && draft.missed === missed && draft.asleep === asleep
  return isSame && isSameCondition(draft, before)
}

/** The form's choices, in order. A budget is one for a day or for a month. */
export const limitChoices = ['time', 'duration', 'idle', 'away', 'cost', 'day', 'month', 'credit'] as const
export type LimitChoice = (typeof limitChoices)[number]

/** A typed part of the request. */
export interface LimitField {
  /** Its place in the draft: choices with the same place share their typed text. */
  name: string
  /** Its name in the request. */
  part: string
  label: string
  unit?: string
  isMoment?: boolean
  hint?(instance: InstanceView | undefined, now: number): string | undefined
}

interface LimitForm {
  kind: LimitKind
  label: string
  fields: readonly LimitField[]
  /** The request; `read` gives a field's number in a unit of so many seconds, NaN for none. */
  request(read: (name: string, scale?: number) => number): LimitWhen
}

const dollars = (label: string, choice: 'cost' | 'day' | 'month'): LimitField => ({
  name: 'dollars',
  part: 'dollars',
  label,
  unit: '$',
  hint: (instance, now) => limitHint(choice, instance, now),
})

export const limitForms: Readonly<Record<LimitChoice, LimitForm>> = {
  time: {
    kind: 'time',
    label: 'At a set time',
    fields: [{ name: 'time', part: 'at', label: 'Date and time', isMoment: true }],
    request: read => ({ kind: 'time', at: read('time') }),
  },
  duration: {
    kind: 'duration',
    label: 'After a number of hours',
    fields: [{ name: 'hours', part: 'seconds', label: 'After', unit: 'hours from now' }],
    request: read => ({ kind: 'duration', seconds: Math.round(read('hours', 3600)) }),
  },
  idle: {
    kind: 'idle',
    label: 'When idle',
    fields: [
      { name: 'load', part: 'below', label: 'GPU load below', unit: '%' },
      {
        name: 'minutes',
        part: 'seconds',
        label: 'For',
        unit: 'minutes',
        hint: () =>
          'Measured while Berth is connected. If the service doesn’t report the load, Berth reads it over SSH. ' +
          'A terminal in which somebody types, a busy Jupyter kernel and an open page count as use.',
      },
    ],
    request: read => ({ kind: 'idle', below: read('load'), seconds: Math.round(read('minutes', 60)) }),
  },
  away: {
    kind: 'away',
    label: 'When Berth is away',
    fields: [
      {
        name: 'awayMinutes',
        part: 'seconds',
        label: 'Minutes away',
        unit: 'minutes',
        hint: () => 'Asleep, closed or offline. Only a watchdog on the instance can tell.',
      },
    ],
    request: read => ({ kind: 'away', seconds: Math.round(read('awayMinutes', 60)) }),
  },
  cost: {
    kind: 'cost',
    label: 'At a total cost',
    fields: [dollars('Cost since renting', 'cost')],
    request: read => ({ kind: 'cost', dollars: read('dollars') }),
  },
  day: {
    kind: 'budget',
    label: 'At a daily budget',
    fields: [dollars('Spending per day', 'day')],
    request: read => ({ kind: 'budget', per: 'day', dollars: read('dollars') }),
  },
  month: {
    kind: 'budget',
    label: 'At a monthly budget',
    fields: [dollars('Spending per month', 'month')],
    request: read => ({ kind: 'budget', per: 'month', dollars: read('dollars') }),
  },
  credit: {
    kind: 'credit',
    label: 'When credit runs low',
    fields: [
      {
        name: 'creditHours',
        part: 'hours',
        label: 'The credit would last less than',
        unit: 'hours',
        hint: () =>
          'Stops instances one by one until the credit lasts that long again: silent and idle ' +
          'ones first, then those that have cost the least since they started.',
      },
    ],
    request: read => ({ kind: 'credit', hours: read('creditHours') }),
  },
}

/**
 * The initial values of a new limit's fields. `now` in epoch seconds of the account's time: the next full hour but one.
 */
export function newTyped(now: number): Record<string, string> {
  return {
    time: localTime(Math.ceil(now / 3600) * 3600 + 3600),
    hours: '4',
    load: '5',
    minutes: '30',
    awayMinutes: '120',
    dollars: '10',
    creditHours: '6',
  }
}

/** A limit's choice and fields: a moment that was moved by a snooze, and hours that are left. */
export function choiceOf(
  { when, setAt, dueAt }: Pick<LimitView, 'when' | 'setAt' | 'dueAt'>,
  now: number,
): { choice: LimitChoice; typed: Record<string, string> } {
  switch (when.kind) {
    case 'time':
      return { choice: 'time', typed: { time: localTime(dueAt ?? when.at) } }
    case 'duration':
      return {
        choice: 'duration',
        typed: { hours: hoursLeft(dueAt ?? setAt + when.seconds, now) },
      }
    case 'idle':
      return {
        choice: 'idle',
        typed: { load: String(when.below), minutes: String(when.seconds / 60) },
      }
    case 'away':
      return { choice: 'away', typed: { awayMinutes: asTyped(when.seconds / 60) } }
    case 'cost':
      return { choice: 'cost', typed: { dollars: String(when.dollars) } }
    case 'budget':
      return { choice: when.per, typed: { dollars: String(when.dollars) } }
    case 'credit':
      return { choice: 'credit', typed: { creditHours: String(when.hours) } }
  }
}

/** The typed text as the request needs it: epoch seconds of a moment, else a number times `scale`. */
export function readField(field: LimitField | undefined, text: string, scale?: number): number {
  return field?.isMoment ? new Date(text).getTime() / 1000 : number(text, scale)
}

/** The remaining time, so that nothing moves if only the warning changes; never below the allowed minimum. */
function hoursLeft(at: number, now: number): string {
  return String(Math.max(0.02, Math.round((at - now) / 36) / 100))
}

/** As a field for date and time wants it: `2026-11-21T18:00`, by this machine's calendar. Epoch seconds. */
function localTime(at: number): string {
  return `${isoDay(new Date(at * 1000))}T${timeOfDay(at)}`
}
