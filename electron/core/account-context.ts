import type { AccountId } from '../contract/ids.ts'
import type { InstanceView } from '../contract/instance/instance.ts'
import type { Micros } from '../contract/spending/money.ts'
import type { AccountView } from '../contract/state.ts'
import type { Files } from '../ports/files.ts'
import type { Keychain } from '../ports/keychain.ts'
import type { Machine } from '../ports/machine.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Instance } from '../service/instances.ts'
import type { Connection } from '../ssh/connection/connection.ts'
import type { Access } from './access/access.ts'
import type { FileTransfers } from './access/files/file-transfers.ts'
import type { FolderSync } from './access/files/folder-sync.ts'
import type { Activity } from './app/activity.ts'
import type { Notifications } from './notifications/notifications.ts'
import type { Store } from './state/store.ts'

/** A fresh answer of the service about one account. State shows it already. */
export interface AccountPoll {
  account: AccountView
  /** Every instance as the service gave it, secrets and all. */
  records: readonly Instance[]
  /** Those of the account that nothing was told of, and that may be there: nothing fresh is known of them. */
  unconfirmed: ReadonlySet<number>
  /** How many polls in a row, this one the last, were sure to be without an instance. Asked while this one is told. */
  pollsMissing(instance: number): number
  /** Absent where it was not told: the key may not read it, or only the instances were answered. */
  credit?: Micros
  /** Epoch seconds of the account's time, and by how many it may be wrong. */
  at: number
  uncertainty?: number
}

/** Something that Berth does by itself for one account. It decides on fresh answers alone: stale ones tell nothing. */
export interface Automation {
  /** What a fresh poll means to it. */
  onPoll(poll: AccountPoll): void
  /** Goes on with what an earlier session left under way; called again when another key is used. */
  resume(): void
  /**
   * When it has something to do next, after that moment, epoch seconds of the account's time: a poll is made then.
   * Infinity where that is never. What is overdue was seen by the last poll, and must not hide what comes.
   */
  dueAt?(after: number): number
  /** Ids of those whose secret values in the keychain are still wanted. */
  secretOwners?(): readonly string[]
  /** Writes what waits to be written. Never rejects. */
  flush(): Promise<void>
}

/** What everything that works for one account has at hand. */
export interface AccountContext {
  account: AccountId
  store: Store
  machine: Machine
  /** Where secret values of what is rented are, until it is there. */
  keychain: Keychain
  /** Where this account's things are kept, and the folder in it. */
  files: Files
  folder: string
  /** A file of theirs could not be read and was set aside under that name. */
  onBroken: (setAside: string) => void
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  /** Folders of this machine and of the account's instances, kept in step. */
  sync: FolderSync
  /** Throws `key_missing` while there is no key. */
  client(): ServiceClient
  /** The record of an instance as it came last. */
  record(instance: number): Instance | undefined
  /** Aborted when Berth ends, or the account is removed: from then on nothing is asked and nothing written. */
  ending: AbortSignal
  /** The account's time, epoch seconds. */
  now(): number
  /** Sixteen hexadecimal digits that were never used before. */
  newId(): string
  /** Asks the service for the account at once; resolves when that poll has ended, well or not. */
  poll(): Promise<void>
}

/** What comes of using a share in an instance's connection, which is given back whatever that is. */
export async function withConnection<Got>(
  { account, access, client }: Pick<AccountContext, 'account' | 'access' | 'client'>,
  instance: InstanceView,
  use: (connection: Connection) => Promise<Got>,
): Promise<Got> {
  const lease = await access.connect({ account, instance, client: client() })
  try {
    return await use(lease.connection)
  } finally {
    lease.release()
  }
}
