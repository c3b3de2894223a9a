import * as v from 'valibot'
import type { Settings } from '#contract/app/settings.ts'
import type { AccountView } from '#contract/state.ts'
import { isDeepEqual } from '../state/same.ts'
import { type DocumentOptions, openDocument } from '../storage/json-file.ts'
import { AlertedState } from './alerted.ts'
import { alerts } from './alerts.ts'
import type { Notifications } from './notifications.ts'

/** Sends one account's alerts and remembers which were sent. */
export interface AccountAlerts {
  /** After a fresh poll of the account, at `at` (epoch seconds of its time). */
  onPoll(account: AccountView, settings: Settings, at: number): Promise<void>
  flush(): Promise<void>
}

export async function openAccountAlerts(
  context: Pick<DocumentOptions<v.GenericSchema>, 'files' | 'clock' | 'name' | 'onBroken'>,
  notifications: Notifications,
): Promise<AccountAlerts> {
  const document = await openDocument({ ...context, schema: v.nullable(AlertedState), empty: null })
  return {
    /**
     * Alerts are stored as sent before they are sent: after a kill, one is missed rather than repeated. They are sent
     * even where storing fails.
     */
    async onPoll(account, settings, at) {
      const before = document.get()
      const { alerts: found, alerted } = alerts(before ?? undefined, account, settings, at)
      if (!isDeepEqual(before, alerted)) await document.record(() => alerted)
      notifications.onPoll(account, alerted)
      if (found.length > 0) notifications.tell(account.id, found)
    },
    flush: document.flush,
  }
}
