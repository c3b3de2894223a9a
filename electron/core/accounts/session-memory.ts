import * as v from 'valibot'
import type { InstanceView } from '#contract/instance/instance.ts'
import { goneAlerts } from '#core/alerts/instance-alerts.ts'
import { openAccountAlerts } from '#core/alerts/notifications.ts'
import { openLastSeen } from '#core/instances/last-seen.ts'
import { openMissingInstances } from '#core/instances/missing-instances.ts'
import { openStoredWatchdogs } from '#core/limits/watchdog-decide.ts'
import type { CollectionContext } from '#core/storage/collection.ts'
import { openDocument } from '#core/storage/json-file.ts'
import type { SessionContext } from './session-context.ts'

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
  function onVanished(views: readonly InstanceView[]): void {
    const lost = views.filter(({ id }) => watchdogs.find(id)?.request.action !== 'destroy')
    notifications.tell(context.account, goneAlerts(context.account, lost))
  }

  const [alerts, lastSeen, missingInstances, dialect] = await Promise.all([
    openAccountAlerts(context, notifications),
    openLastSeen(context),
    openMissingInstances(context, { onAway, onVanished, onGone }),
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
