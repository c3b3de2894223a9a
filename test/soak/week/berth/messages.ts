import type { GuardView } from '../../../../electron/contract/automation/guard.ts'
import type { CommandName } from '../../../../electron/contract/commands.ts'
import type { InstanceState } from '../../../../electron/contract/instance/instance.ts'

/** How the process is to live. */
export interface Life {
  /** Where it keeps all that outlives it. */
  folder: string
  /** How many times as fast as this machine it lives. */
  hurry: number
  /** Real milliseconds between two looks. */
  pause: number
}

/** What the process is told. `account` asks for the account as State shows it. */
export type ToBerth =
  | { kind: 'begin'; life: Life }
  | { kind: 'call'; id: number; name: CommandName | 'account'; args: unknown }
  | { kind: 'close' }

/** What it tells. */
export type FromBerth =
  | { kind: 'begun' }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'problem'; id: number; code: string; message: string }
  /** Its State has changed in what guards are judged by. */
  | { kind: 'seen'; seen: Seen }
  /** A look was asked for; one has ended, with a fresh answer. */
  | { kind: 'looking' }
  | { kind: 'looked' }
  /** Something that nobody foresaw. */
  | { kind: 'unforeseen'; text: string }

/** The guards, and where the instances stand, as State shows them. */
export interface Seen {
  guards: readonly GuardView[]
  instances: Readonly<Record<string, InstanceState>>
}
