import type { Starting } from '../../../contract/automation/stoppers.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { ServiceClient } from '../../../service/client.ts'
import type { Instance } from '../../../service/instances.ts'
import type { Document } from '../../storage/json-file.ts'
import type { Failovers } from '../attempts/attempts.ts'
import type { Rentals } from '../rentals/rentals.ts'
import type { Recovery } from './recovery.ts'

/** What the recoveries of one account need of their surroundings. */
export interface RecoveriesContext {
  /** By instance. */
  document: Document<Record<string, Recovery>>
  failovers: Pick<Failovers, 'start' | 'cancel' | 'find' | 'written'>
  rentals: Pick<Rentals, 'ofInstance' | 'knows'>
  /** Throws `key_missing` while there is no key. */
  client(): ServiceClient
  record(instance: number): Instance | undefined
  /** Why a guard would stop what is about to run, so that it does not. */
  heldBack(starting: Starting): Problem | undefined
  /** Aborted when Berth ends: from then on nothing is asked and nothing written. */
  ending: AbortSignal
  /** The account's time, epoch seconds. */
  now(): number
  newId(): string
  changed(): void
  poll(): Promise<void>
  tell(event: RecoveryEvent): void
}

export interface RecoveryEvent {
  instance: InstanceView
  text: string
  /** Of interest beyond Activity: what was done, or why nothing is. */
  kind: 'done' | 'held' | 'note'
  problem?: Problem
}

/** What a fresh answer showed. */
export interface Answer {
  instances: Readonly<Record<string, InstanceView>>
  records: readonly Instance[]
}
