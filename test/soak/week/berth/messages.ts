import type { GuardView } from '../../../../electron/contract/automation/guard.ts'
import type { CommandName } from '../../../../electron/contract/commands.ts'
import type { InstanceState } from '../../../../electron/contract/instance/instance.ts'

/** How the process is to live. */
export interface Life {
  /** Where it keeps all that outlives it. */
  folder: string
  /** What its chance follows from. */
  seed: number
  /** How many lived before it. */
  number: number
  /** Where the service answers. */
  servicePort: number
  /** What time it is when it begins, epoch milliseconds. */
  now: number
}

/**
 * At what a process dies: just before a request leaves, when its answer is here, and around a write to disk; the last
 * two are a request and its answer that create an instance.
 */
export type Moment = 'request' | 'answer' | 'write' | 'writing' | 'written' | 'creating' | 'created'

/** What the process is told. `account` asks for the account as State shows it. */
export type ToBerth =
  | { kind: 'begin'; life: Life }
  | { kind: 'call'; id: number; name: CommandName | 'account'; args: unknown }
  /** Moves its time, and asks how it is once only so many requests are under way, which the service holds. */
  | { kind: 'advance'; to: number; held: number }
  | { kind: 'die'; at: Moment; times: number }
  | { kind: 'close' }

/** How the process is. */
export interface LifeStatus {
  /** When its next timer is due, epoch milliseconds. */
  next: number | undefined
  /** Calls that it had been given by then. */
  calls: number
  /** Nothing but what is named here has happened for a few turns of its loop. */
  isCalm: boolean
  /** Requests under way. */
  requests: readonly string[]
  /** Whatever else is. */
  others: readonly string[]
}

/** What it tells. */
export type FromBerth =
  | { kind: 'begun' }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'problem'; id: number; code: string; message: string }
  | { kind: 'status'; status: LifeStatus }
  /** Its State has changed in what guards are judged by. */
  | { kind: 'seen'; seen: Seen }
  /** A poll was asked for; one has ended, with a fresh answer, which told the credit or the instances alone. */
  | { kind: 'polling' }
  | { kind: 'polled'; credit: boolean }
  /**
   * An instance with that mark is asked for. `polled`: in this life the account was seen since that was done last, or
   * since its beginning.
   */
  | { kind: 'asks'; mark: string; polled: boolean }
  /** Something that nobody foresaw. */
  | { kind: 'unforeseen'; text: string }

/** The guards, where the instances stand, what they cost and would while they run (micro-dollars per hour), as State shows them. */
export interface Seen {
  guards: readonly GuardView[]
  instances: Readonly<Record<string, InstanceState>>
  prices: Readonly<Record<string, number>>
  running: Readonly<Record<string, number>>
}
