import * as v from 'valibot'
import { money } from '../format/money.ts'
import { percent } from '../format/size.ts'
import { duration } from '../format/time.ts'
import { LimitId } from '../ids.ts'
import type { InstanceState, InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import type { Problem } from '../problem.ts'
import { type Micros, micros } from '../spending/money.ts'
import type { LastUse } from './use.ts'

const dollarsUpTo = v.maxValue<number, number, string>(1_000_000, 'at most $1,000,000')
const Dollars = v.pipe(v.number('enter the sum in dollars'), v.minValue(0.01, 'at least $0.01'), dollarsUpTo)
/** The least sum that a limit can have: a part of what several machines share. */
export const leastDollars = 0.000001

const Span = v.pipe(
  v.number('enter the time as a number'),
  v.minValue(60, 'at least a minute'),
  v.maxValue(366 * 86_400, 'at most a year'),
)

const Percent = v.pipe(
  v.number('enter the load in percent'),
  v.minValue(1, 'at least 1%'),
  v.maxValue(100, 'at most 100%'),
)

/** What there is to say of a kind of limit, besides when it's due (`core/limits/limit-due.ts`) and its form. */
interface KindOfLimit<When> {
  /** Whether it limits one instance or the whole account. */
  on: 'instance' | 'account'
  /** Whether it continues after it has acted. */
  goesOn?: true
  /** Its moment is known from the start, and part of its sentence. */
  isSure?: true
  /** A condition that comes about some day, as a clause: `it has cost $5.00`. */
  clause?(when: When): string
  /** Why it acts, as a clause: `its cost reached $5.00`; by default its condition. */
  reason?(when: When): string
  /** Its condition in a cell, where its moment isn't known: `if idle 30 min`; by default, `at the set time`. */
  briefly?(when: When): string
  /** Its condition as a button: `30 min idle`; by default the same as in a cell. */
  label?(when: When): string
}

function kind<Kind extends string, Fields extends v.ObjectEntries>(
  name: Kind,
  fields: Fields,
  facts: KindOfLimit<{ kind: Kind } & v.InferOutput<v.StrictObjectSchema<Fields, undefined>>>,
) {
  return { shape: v.strictObject({ kind: v.literal(name), ...fields }), ...facts }
}

const sum = (dollars: number) => money(micros(dollars))
const kinds = {
  time: kind(
    'time',
    { at: v.pipe(v.number('enter a date and a time'), v.finite()) },
    { on: 'instance', isSure: true, reason: () => 'its set time has passed' },
  ),
  /** Since it was set. */
  duration: kind(
    'duration',
    { seconds: Span },
    {
      on: 'instance',
      isSure: true,
      // A machine of a sweep has a few seconds less than the whole.
      reason: ({ seconds }) =>
        `its ${duration(seconds < 600 ? seconds : Math.round(seconds / 60) * 60)} are up`,
      label: ({ seconds }) => duration(seconds),
    },
  ),
  /** The GPU load was below `below` percent for `seconds`, as far as Berth has seen. */
  idle: kind(
    'idle',
    { below: Percent, seconds: Span },
    {
      on: 'instance',
      goesOn: true,
      clause: ({ below, seconds }) => `its GPU load stays below ${percent(below)} for ${duration(seconds)}`,
      reason: ({ below, seconds }) => `its GPU load was below ${percent(below)} for ${duration(seconds)}`,
      briefly: ({ seconds }) => `if idle ${duration(seconds)}`,
      label: ({ seconds }) => `${duration(seconds)} idle`,
    },
  ),
  /** The instance's cost since its creation. */
  cost: kind(
    'cost',
    {
      dollars: v.pipe(
        v.number('enter the sum in dollars'),
        v.minValue(leastDollars, 'more than $0'),
        dollarsUpTo,
      ),
    },
    {
      on: 'instance',
      clause: ({ dollars }) => `it has cost ${sum(dollars)}`,
      reason: ({ dollars }) => `its cost reached ${sum(dollars)}`,
      briefly: ({ dollars }) => `at ${sum(dollars)}`,
      label: ({ dollars }) => sum(dollars).replace(/\.00$/, ''),
    },
  ),
  /** The spending in this day or month, by this machine's calendar. */
  budget: kind(
    'budget',
    { per: v.picklist(['day', 'month']), dollars: Dollars },
    {
      on: 'account',
      goesOn: true,
      clause: ({ per, dollars }) => `spending reaches ${sum(dollars)} in a ${per}`,
      reason: ({ per, dollars }) =>
        `spending reached ${sum(dollars)} ${per === 'day' ? 'today' : `this ${per}`}`,
    },
  ),
  /** At the present rate, the credit would last less than `hours`. */
  credit: kind(
    'credit',
    {
      hours: v.pipe(
        v.number('enter the time in hours'),
        v.minValue(0.1, 'at least 0.1 hours'),
        v.maxValue(10_000, 'at most 10,000 hours'),
      ),
    },
    {
      on: 'account',
      goesOn: true,
      clause: ({ hours }) => `the credit would last less than ${duration(hours * 3600)}`,
    },
  ),
  /** Berth did not renew the lease of the watchdog on the instance: it slept, had ended or had no network. */
  away: kind(
    'away',
    {
      seconds: v.pipe(
        v.number('enter the time as a number'),
        v.minValue(5, 'at least 5 seconds'),
        v.maxValue(90 * 86_400, 'at most 90 days'),
      ),
    },
    {
      on: 'instance',
      goesOn: true,
      clause: ({ seconds }) => `Berth was away for ${duration(seconds)}`,
      briefly: ({ seconds }) => `if Berth is away ${duration(seconds)}`,
    },
  ),
}

/** The condition of a limit. Money in dollars, times in seconds, moments in epoch seconds of the account's time. */
export const LimitWhen = v.variant(
  'kind',
  Object.values(kinds).map(({ shape }) => shape),
)
export type LimitWhen = v.InferOutput<typeof LimitWhen>

export type LimitKind = LimitWhen['kind']

/** All kinds; use an entry's functions only with conditions of that kind. */
export const limitKinds: Readonly<Record<LimitKind, KindOfLimit<LimitWhen>>> = kinds

/** A limit on an account that may destroy stops instances first, and destroys only if that is not enough. */
export const LimitAction = v.picklist(['stop', 'destroy'])
export type LimitAction = v.InferOutput<typeof LimitAction>

/** What an instance may cost until its limit on the time, as that was shown with its rental. Dollars. */
const MostShown = v.strictObject({
  /** Of the machine itself. */
  dollars: v.pipe(v.number(), v.finite(), v.minValue(leastDollars)),
  /** Of its traffic; absent where that was shown to cost extra. */
  traffic: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
})
export type MostShown = v.InferOutput<typeof MostShown>

/** A limit's condition and action, as set on an instance, on the account, with a rental or in a project's file. */
export const Limit = v.strictObject({
  when: LimitWhen,
  action: LimitAction,
  /** Also while this computer sleeps: a watchdog on the instance does the same. */
  asleep: v.boolean(),
  /** It also acts once its instance has cost so much. */
  most: v.optional(MostShown),
})
export type Limit = v.InferOutput<typeof Limit>

/** The kinds of limits that can be chosen with a rental, in the order in which they are shown. */
export const rentalLimitKinds = ['idle', 'duration', 'cost', 'away'] as const
export type RentalLimitKind = (typeof rentalLimitKinds)[number]
/** The condition of a kind. */
export type WhenOf<Kind extends RentalLimitKind> = Extract<LimitWhen, { kind: Kind }>

/** The limits chosen with a rental, which are set as soon as the instance exists: at most one of each kind. */
export const RentalLimits = v.pipe(
  v.array(Limit),
  v.check(
    limits => limits.every(({ when }) => rentalLimitKinds.some(kind => kind === when.kind)),
    'a time, idleness or a cost',
  ),
  v.check(limits => new Set(limits.map(({ when }) => when.kind)).size === limits.length, 'each kind once'),
)

/** The stops of a machine for which micro-dollars were spent already, so that its cost counts on top of these. */
export function lessSpent(limits: readonly Limit[], spent: Micros): Limit[] {
  const less = <Sum extends { dollars: number }>(sum: Sum): Sum => ({
    ...sum,
    dollars: Math.max(leastDollars, sum.dollars - spent / 1_000_000),
  })
  return limits.map(({ when, most, ...stop }) => ({
    ...stop,
    when: when.kind === 'cost' ? less(when) : when,
    ...(most && { most: less(most) }),
  }))
}

/**
 * waiting: not due. warned: it acts soon, and has alerted the user. held: it is due but cannot act now, and tries
 * again. acting: it is stopping or destroying. The others do nothing more: done; missed: it only alerted; over:
 * nothing was left to do; off: the user has switched it off, and may switch it on again.
 */
export type LimitStep = 'waiting' | 'warned' | 'held' | 'acting' | 'done' | 'missed' | 'over' | 'off'

/** A limit as stored and shown. Moments in epoch seconds of the account's time. */
export const LimitFields = v.object({
  id: LimitId,
  /** Absent for one on the whole account. */
  instance: v.optional(v.number()),
  ...Limit.entries,
  /** Seconds between its warning and its action; 0 without a warning. */
  warning: v.number(),
  /** The reaction to a moment that passed while Berth wasn’t polling, such as while the laptop slept. */
  missed: v.picklist(['act', 'tell']),
  /** When it was set, from which a duration counts. */
  setAt: v.number(),
  /** It does not act before this moment. */
  snoozedUntil: v.optional(v.number()),
  /** Its actions and alerts, oldest first, the last twenty. */
  history: v.pipe(v.array(v.object({ at: v.number(), text: v.string() })), v.readonly()),
})

export interface LimitView extends v.InferOutput<typeof LimitFields> {
  /** Its action and moment as a sentence. */
  sentence: string
  step: LimitStep
  /** When it acts if nothing changes; absent if it never would. */
  dueAt?: number
  /** When somebody used its instance though its GPUs were idle, from which the idle time counts. */
  used?: LastUse
  /** Why it could not act yet. */
  problem?: Problem
}

/** A preview of the limit as if it were set now: its action and moment. */
export interface LimitPreview {
  sentence: string
  dueAt?: number
  /** It's reached already, so that it acts at once. */
  isDue?: boolean
  /** The instances it would act on now, in that order. */
  targets: readonly { instance: number; action: LimitAction }[]
  /** Why it may be unable to see its condition. */
  doubt?: string
}

/** Minutes by which one snooze moves a limit's moment. */
export const snoozes = [15, 60, 240, 720] as const
export type SnoozeMinutes = (typeof snoozes)[number]

/** The moment of a limit that is known from the start, without its snooze. Epoch seconds of the account's time. */
export function fixedMoment({ when, setAt }: Pick<LimitView, 'when' | 'setAt'>): number | undefined {
  if (when.kind === 'time') return when.at
  return when.kind === 'duration' ? setAt + when.seconds : undefined
}

/** Whether a watchdog on an instance can do the same. Of a cost it knows the moment, which Berth corrects as prices change. */
export function canBeAsleep({ kind }: LimitWhen): boolean {
  return limitKinds[kind].on === 'instance'
}

/** Whether a limit has an effect on an instance in that state: stopping one that doesn't run has none. */
export function actsIn(state: InstanceState, { action }: Pick<LimitView, 'action'>): boolean {
  return action === 'destroy' || !(hasTrait(state, 'over') || state === 'outbid')
}

/** Whether a limit does nothing more unless it is set or switched on again. */
export function hasEnded({ step }: Pick<LimitView, 'step'>): boolean {
  return step === 'done' || step === 'missed' || step === 'over' || step === 'off'
}

/** Whether a limit that has ended so is set again once its instance is started: one on its time or its cost. */
export function isSetAgain(
  { when: { kind }, action }: Pick<LimitView, 'when' | 'action'>,
  end: LimitStep | undefined,
): boolean {
  return (kind === 'duration' || kind === 'cost') && action === 'stop' && (end === 'done' || end === 'over')
}

/** The limits of several accounts that may still act. */
export function limitsSet(accounts: readonly { limits: Readonly<Record<string, LimitView>> }[]): LimitView[] {
  return accounts.flatMap(({ limits }) => Object.values(limits).filter(limit => !hasEnded(limit)))
}

/** The limits of an account that have a moment, and an effect as things are, the next one first. */
export function dueNext({
  limits,
  instances,
}: {
  limits: Readonly<Record<string, LimitView>>
  instances: Readonly<Record<string, Pick<InstanceView, 'state'>>>
}): { limit: LimitView; dueAt: number }[] {
  return Object.values(limits)
    .flatMap(limit => {
      const target = instances[limit.instance ?? '']
      const spares = target && !actsIn(target.state, limit)
      return limit.dueAt === undefined || hasEnded(limit) || spares ? [] : [{ limit, dueAt: limit.dueAt }]
    })
    .sort((a, b) => a.dueAt - b.dueAt)
}
