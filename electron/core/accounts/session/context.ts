import type { Files } from '../../../ports/files.ts'
import type { Keychain } from '../../../ports/keychain.ts'
import type { Machine } from '../../../ports/machine.ts'
import type { ServiceClient } from '../../../service/client.ts'
import type { Access } from '../../access/access.ts'
import type { FileTransfers } from '../../access/files/file-transfers.ts'
import type { Activity } from '../../app/activity.ts'
import type { Notifications } from '../../notifications/notifications.ts'
import type { Projects } from '../../projects/projects.ts'
import type { ProjectSecrets } from '../../projects/secrets.ts'
import type { Store } from '../../state/store.ts'

/** What the session of an account stands on, and whom it tells. */
export interface SessionContext {
  store: Store
  machine: Machine
  /** Where secret values of what it rents are, until it is there. */
  keychain: Keychain
  /** Where this account's things are kept. */
  files: Files
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  /** Folders that are run on what it rents, and what they name. */
  forProjects: { projects: Projects; secrets: ProjectSecrets }
  /** The rate of the account's time, where it is known beforehand: the demo's. */
  rate?: number
  /** Whether the user wants no poll that comes by itself. */
  isPaused: () => boolean
  /** Milliseconds between polls. */
  pollInterval: () => number
  /** The key to begin with; undefined while none is at hand. */
  ownKey: () => Promise<string | undefined>
  /** The service refused a key: gives another one to go on with, where there is one. */
  anotherKey: (refused: string) => Promise<string | undefined>
  /** An instance is away, and may be there again. */
  onAway: (instance: number) => void
  /** An instance has gone from the account for good. */
  onGone: (instance: number) => void
  onCreated: (client: ServiceClient, instance: number, instanceKey: string | undefined) => void
}
