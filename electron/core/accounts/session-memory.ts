import * as v from 'valibot'
import type { InstanceView } from '#contract/instance/instance.ts'
import { goneAlerts } from '#core/alerts/instance-alerts.ts'
import { type AccountAlerts, openAccountAlerts } from '#core/alerts/notifications.ts'
import { type LastSeen, openLastSeen } from '#core/instances/last-seen.ts'
import { type MissingInstances, openMissingInstances } from '#core/instances/missing-instances.ts'
import { openStoredWatchdogs, type StoredWatchdogs } from '#core/limits/watchdog-decide.ts'
import type { CollectionContext } from '#core/storage/collection.ts'
import { type Document, openDocument } from '#core/storage/json-file.ts'
import type { Learnt } from '#service/dialect.ts'
import type { SessionContext } from './session-context.ts'

const StoredDialect = v.object({
  list: v.optional(v.picklist(['v0', 'v1'])),
  pricesByPart: v.optional(v.literal(true)),
})

/** The stored data of a session, apart from that of the automations. */
export interface SessionMemory {
  readonly alerts: AccountAlerts
  readonly lastSeen: Document<LastSeen>
  readonly missingInstances: MissingInstances
  readonly dialect: Document<Learnt>
  readonly watchdogs: StoredWatchdogs
  flush(): Promise<void>
}

export async function openSessionMemory(
  context: CollectionContext,
  { notifications, onAway, onGone }: SessionContext,
): Promise<SessionMemory> {
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
    async flush() {
      await Promise.all(all.map(each => each.flush()))
    },
  }
}
