import * as v from 'valibot'
import type { Files, Keychain, Platform } from '#platform/platform.ts'
import type { ServiceClient } from '#service/client.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Access } from '../access/access.ts'
import type { FileTransfers } from '../access/file-transfers.ts'
import type { Activity } from '../activity.ts'
import { backAlert, goneAlerts, goneId } from '../alerts/instance-alerts.ts'
import { type Notifications, openAccountAlerts } from '../alerts/notifications.ts'
import { openLastSeen } from '../instances/last-seen.ts'
import { openMissingInstances } from '../instances/missing-instances.ts'
import type { Projects } from '../projects/projects.ts'
import type { ProjectSecrets } from '../projects/secrets.ts'
import type { CollectionContext } from '../storage/collection.ts'
import { openDocument } from '../storage/json-file.ts'
import type { Store } from '../storage/store.ts'
import { openStoredWatchdogs } from '../watchdogs/record.ts'
import { mayHaveDestroyed } from '../watchdogs/step.ts'
import type { TellOf } from '../watchdogs/visits.ts'

/** Dependencies of an account's session. */
export interface SessionContext {
  store: Store
  platform: Platform
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
  /** What an instance tells elsewhere when its watchdog acts. */
  tellOf: TellOf
  onCreated: (client: ServiceClient, instance: number, instanceKey: string | undefined) => void
}

const StoredDialect = v.object({
  list: v.optional(v.picklist(['v0', 'v1'])),
  pricesByPart: v.optional(v.literal(true)),
})

export type SessionMemory = Awaited<ReturnType<typeof openSessionMemory>>

/** The stored data of a session, apart from that of the automations. */
export async function openSessionMemory(
  context: CollectionContext,
  { notifications, onAway, onGone }: SessionContext,
) {
  const watchdogs = await openStoredWatchdogs(context)

  /** An instance that a watchdog may have destroyed is reported by the watchdog. */
  function onVanished(views: readonly InstanceView[], at: number): void {
    const lost = views.filter(({ id }) => !mayHaveDestroyed(watchdogs.find(id), at))
    notifications.tell(context.account, goneAlerts(context.account, lost))
  }

  function onReturned(views: readonly InstanceView[]): void {
    for (const { id } of views) notifications.withdraw(goneId(context.account, id))
    notifications.tell(
      context.account,
      views.map(view => backAlert(context.account, view)),
    )
  }

  const [alerts, lastSeen, missingInstances, dialect] = await Promise.all([
    openAccountAlerts(context, notifications),
    openLastSeen(context),
    openMissingInstances(context, { onAway, onVanished, onReturned, onGone }),
    openDocument(context, 'service', StoredDialect, {}),
  ])
  const all = [alerts, lastSeen, missingInstances, dialect]
  return {
    alerts,
    lastSeen,
    missingInstances,
    dialect,
    watchdogs,
    async flush(): Promise<void> {
      await Promise.all(all.map(each => each.flush()))
    },
  }
}
