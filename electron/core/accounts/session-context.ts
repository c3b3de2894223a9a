import type { Access } from '#core/access/access.ts'
import type { FileTransfers } from '#core/access/file-transfers.ts'
import type { Notifications } from '#core/alerts/notifications.ts'
import type { Activity } from '#core/app/activity.ts'
import type { Projects } from '#core/projects/projects.ts'
import type { ProjectSecrets } from '#core/projects/secrets.ts'
import type { Store } from '#core/storage/store.ts'
import type { Files, Keychain, Machine } from '#machine/machine.ts'
import type { ServiceClient } from '#service/client.ts'

/** Dependencies of an account's session. */
export interface SessionContext {
  store: Store
  machine: Machine
  /** Holds the secret values of rental requests. */
  keychain: Keychain
  /** The account's files. */
  files: Files
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  /** The projects, and the secrets that they name. */
  forProjects: { projects: Projects; secrets: ProjectSecrets }
  /** The rate of the account's time, where known in advance, as for the demo. */
  rate?: number
  /** Whether automatic polling is paused. */
  isPaused: () => boolean
  /** Milliseconds between polls. */
  pollInterval: () => number
  /** The key to start with; undefined while none can be read. */
  ownKey: () => Promise<string | undefined>
  /** Called when the service refused a key; returns another one, if there is one. */
  anotherKey: (refused: string) => Promise<string | undefined>
  /** An instance is missing, and may return. */
  onAway: (instance: number) => void
  /** An instance is permanently gone. */
  onGone: (instance: number) => void
  onCreated: (client: ServiceClient, instance: number, instanceKey: string | undefined) => void
}
