import type { GuardView } from '../../../../electron/contract/automation/guard.ts'
import type { CommandName } from '../../../../electron/contract/commands.ts'
import type { InstanceState } from '../../../../electron/contract/instance/instance.ts'

/** The settings of one process of Berth. */
export interface Life {
  /** The folder of everything that outlives it. */
  folder: string
  /** Seed of its random numbers. */
  seed: number
  /** The number of this life, from 1. */
  number: number
  /** Port of the service. */
  servicePort: number
  /** The time of its start in epoch milliseconds. */
  now: number
}

/**
 * When a process dies: just before a request is sent, when its answer arrives, or before, during and after a write to
 * disk. `creating` and `created` are the request and answer that create an instance.
 */
export type Moment = 'request' | 'answer' | 'write' | 'writing' | 'written' | 'creating' | 'created'

/** Messages to the process. `account` requests the account in State. */
export type ToBerth =
  | { kind: 'begin'; life: Life }
  | { kind: 'call'; id: number; name: CommandName | 'account'; args: unknown }
  /** Advances its time and requests its status once only the `held` requests, which the service delays, are pending. */
  | { kind: 'advance'; to: number; held: number }
  | { kind: 'die'; at: Moment; times: number }
  | { kind: 'close' }

/** The status of the process. */
export interface LifeStatus {
  /** The time of its next timer in epoch milliseconds. */
  next: number | undefined
  /** The number of calls it has received. */
  calls: number
  /** Only what is named here was active in the last few turns of its event loop. */
  isCalm: boolean
  /** Pending requests. */
  requests: readonly string[]
  /** Other pending work. */
  others: readonly string[]
}

/** Messages from the process. */
export type FromBerth =
  | { kind: 'begun' }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'problem'; id: number; code: string; message: string }
  | { kind: 'status'; status: LifeStatus }
  /** The parts of State by which guards are checked have changed. */
  | { kind: 'seen'; seen: Seen }
  /** A poll was started; a poll ended with a fresh answer, with the credit or only the instances. */
  | { kind: 'polling' }
  | { kind: 'polled'; credit: boolean }
  /**
   * An instance with that mark is requested. `polled`: the account was polled in this life since the last such request,
   * or since its start.
   */
  | { kind: 'asks'; mark: string; polled: boolean }
  /** An unforeseen error. */
  | { kind: 'unforeseen'; text: string }

/** Guards, instance states, current prices and prices while running (micro-dollars per hour) in State. */
export interface Seen {
  guards: readonly GuardView[]
  instances: Readonly<Record<string, InstanceState>>
  prices: Readonly<Record<string, number>>
  running: Readonly<Record<string, number>>
}
