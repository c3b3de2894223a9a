import type { Files, Keychain, Platform } from '../platform/platform.ts'
import type { ServiceClient } from '../service/client.ts'
import type { Instance } from '../service/instances.ts'
import type { AccountId } from '../shared/ids.ts'
import type { InstanceView } from '../shared/instance/instance.ts'
import type { Micros } from '../shared/spending/money.ts'
import type { AccountView } from '../shared/state.ts'
import type { Connection } from '../ssh/connection/connection.ts'
import type { Access } from './access/access.ts'
import type { FileTransfers } from './access/file-transfers.ts'
import type { FolderSync } from './access/folder-sync.ts'
import type { Activity } from './activity.ts'
import type { Notifications } from './alerts/notifications.ts'
import type { Deletions } from './endings/deletions.ts'
import type { Endings } from './endings/perform.ts'
import type { DocumentPlace } from './storage/json-file.ts'
import type { Store } from './storage/store.ts'

/** The result of a poll of one account, already shown by State. */
export interface AccountPoll {
  account: AccountView
  /** All instances as the service sent them, secrets included. */
  records: readonly Instance[]
  /** Known instances that this poll did not confirm but that may still exist. */
  unconfirmed: ReadonlySet<number>
  /** How many polls in a row, up to this one, certainly lacked an instance. Valid only during `onPoll`. */
  pollsMissing(instance: number): number
  /** Absent where the key may not read it, or only the instances were polled. */
  credit?: Micros
  /** Epoch seconds of the account's time. */
  at: number
}

/** Something that Berth does automatically for one account. It decides on fresh polls alone, never on stale data. */
export interface Automation {
  /** Acts on a fresh poll. */
  onPoll(poll: AccountPoll): void
  /** Shows stored data in State, even without a key: no writes, no requests. */
  show?(): void
  /** Continues the unfinished work of an earlier session with a key; called again after the key was replaced. */
  resume?(): void
  /**
   * When it next has work after `after`, in epoch seconds of the account's time: a poll is made then. Infinity without
   * any. Overdue work does not count: the last poll has seen it, and it must not hide later work.
   */
  dueAt?(after: number): number
  /** Ids of records whose secrets in the keychain are still needed. */
  secretOwners?(): readonly string[]
  /** Writes pending changes. Never rejects. */
  flush(): Promise<void>
}

/** Shared context of all services of one account. */
export interface AccountContext {
  account: AccountId
  store: Store
  platform: Platform
  /** Holds the secrets of rentals until their instances exist. */
  keychain: Keychain
  /** The account's files, and its folder in them. */
  files: Files
  folder: string
  /** Called where a file could not be read and was set aside under that name. */
  onBroken: DocumentPlace['onBroken']
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  /** Syncs local folders with the account's instances. */
  sync: FolderSync
  /** Throws `key_missing` while there is no key. */
  client(): ServiceClient
  /** Stops and destroys the account's instances. */
  endings: Endings
  /** Deletes the account's keys, volumes and networks. */
  deletions: Deletions
  /** The latest record of an instance. */
  record(instance: number): Instance | undefined
  /** Aborted when Berth ends or the account is removed: after that there are no more requests and writes. */
  quitting: AbortSignal
  /** The account's time in epoch seconds. */
  now(): number
  /** Sixteen random hexadecimal digits. */
  newId(): string
  /** Polls the account at once; resolves when that poll has ended, successfully or not. */
  poll(): Promise<void>
}

/** Runs `use` with a lease of the instance's connection, which is released in any case. */
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
