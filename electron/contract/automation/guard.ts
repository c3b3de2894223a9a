import * as v from 'valibot'
import type { InstanceState } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import type { Problem } from '../problem.ts'
import type { GuardCondition } from './guard-kinds.ts'

/** A guard: `g` and sixteen hexadecimal digits. */
export const GuardId = v.pipe(v.string(), v.regex(/^g[0-9a-f]{16}$/, 'not a guard'))

/** What it does then. A guard on an account that may destroy stops first, and destroys only what that does not end. */
export type GuardAction = 'stop' | 'destroy'

/** What it does on finding that its moment passed while Berth was not polling, such as while the laptop slept. */
export type WhenMissed = 'act' | 'tell'

/**
 * waiting: nothing is due. warned: it will act soon, and has said so. held: it is due, but cannot act now, and tries
 * again. acting: under way. Those do nothing: done; missed: it only said so; over: there was nothing left to do; off:
 * the user has switched it off, and may switch it on again.
 */
export type GuardStep = 'waiting' | 'warned' | 'held' | 'acting' | 'done' | 'missed' | 'over' | 'off'

/** What a guard did, or said, and when: epoch seconds of the account's time. */
export interface GuardEvent {
  at: number
  text: string
}

export interface GuardView {
  id: string
  /** Absent for one on the whole account. */
  instance?: number
  condition: GuardCondition
  action: GuardAction
  /** Seconds ahead at which it warns; 0 for not at all. */
  warning: number
  missed: WhenMissed
  /** What it does and when, as a sentence. */
  sentence: string
  step: GuardStep
  /** When it acts if all goes on as it is now; absent while nothing leads there. */
  dueAt?: number
  snoozedUntil?: number
  /** Why it could not act yet. */
  problem?: Problem
  /** Oldest first, the last twenty. */
  history: readonly GuardEvent[]
}

/** What a guard would do, and when, were it set now. */
export interface GuardPreview {
  sentence: string
  dueAt?: number
  /** On what it would act as things are now, in that order. */
  targets: readonly { instance: number; action: GuardAction }[]
  /** Why it could not see what it waits for. */
  doubt?: string
}

/** Minutes by which a guard's moment can be moved at a time. */
export const snoozes = [15, 60, 240, 720] as const
export type SnoozeMinutes = (typeof snoozes)[number]

/** Whether one on an instance in that state would do something: to stop it where it stops already is nothing. */
export function actsIn(state: InstanceState, { action }: Pick<GuardView, 'action'>): boolean {
  return action === 'destroy' || !hasTrait(state, 'halted')
}

/** Whether it has nothing more to do, unless it is set or switched on again. */
export function hasEnded({ step }: Pick<GuardView, 'step'>): boolean {
  return step === 'done' || step === 'missed' || step === 'over' || step === 'off'
}

/** The guards that may still act, of several accounts. */
export function guardsSet(accounts: readonly { guards: Readonly<Record<string, GuardView>> }[]): GuardView[] {
  return accounts.flatMap(({ guards }) => Object.values(guards).filter(guard => !hasEnded(guard)))
}

/** The guards of an account that have a moment, the next one first. */
export function dueNext(guards: Readonly<Record<string, GuardView>>): { guard: GuardView; dueAt: number }[] {
  return Object.values(guards)
    .flatMap(guard => (guard.dueAt === undefined || hasEnded(guard) ? [] : [{ guard, dueAt: guard.dueAt }]))
    .sort((a, b) => a.dueAt - b.dueAt)
}
