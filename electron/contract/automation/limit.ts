import type { InstanceState, InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import type { Problem } from '../problem.ts'
import type { LimitCondition } from './limit-kinds.ts'

/** A limit on an account that may destroy stops instances first, and destroys only if that is not enough. */
export type LimitAction = 'stop' | 'destroy'

/** The reaction to a moment that passed while Berth was not polling, such as while the laptop slept. */
export type WhenMissed = 'act' | 'tell'

/**
 * waiting: not due. warned: it acts soon, and has alerted the user. held: it is due but cannot act now, and tries
 * again. acting: it is stopping or destroying. The others do nothing more: done; missed: it only alerted; over:
 * nothing was left to do; off: the user has switched it off, and may switch it on again.
 */
export type LimitStep = 'waiting' | 'warned' | 'held' | 'acting' | 'done' | 'missed' | 'over' | 'off'

/** An action or alert of a limit; `at` in epoch seconds of the account's time. */
export interface LimitEvent {
  at: number
  text: string
}

export interface LimitView {
  id: string
  /** Absent for one on the whole account. */
  instance?: number
  condition: LimitCondition
  action: LimitAction
  /** Seconds ahead at which it warns; 0 for not at all. */
  warning: number
  missed: WhenMissed
  /** Its action and moment as a sentence. */
  sentence: string
  step: LimitStep
  /** When it acts if nothing changes; absent if it never would. */
  dueAt?: number
  snoozedUntil?: number
  /** Why it could not act yet. */
  problem?: Problem
  /** Oldest first, the last twenty. */
  history: readonly LimitEvent[]
}

/** What a limit would do, and when, if it were set now. */
export interface LimitPreview {
  sentence: string
  dueAt?: number
  /** The instances it would act on now, in that order. */
  targets: readonly { instance: number; action: LimitAction }[]
  /** Why it may be unable to see its condition. */
  doubt?: string
}

/** Minutes by which one snooze moves a limit's moment. */
export const snoozes = [15, 60, 240, 720] as const
export type SnoozeMinutes = (typeof snoozes)[number]

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
  { condition: { kind }, action }: Pick<LimitView, 'condition' | 'action'>,
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
