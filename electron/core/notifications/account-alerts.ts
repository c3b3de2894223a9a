import * as v from 'valibot'
import type { Settings } from '../../contract/app/settings.ts'
import type { AccountView } from '../../contract/state.ts'
import { isDeepEqual } from '../state/same.ts'
import { type DocumentOptions, openDocument } from '../storage/json-file.ts'
import { AlertedState } from './alerted.ts'
import { alerts } from './alerts.ts'
import type { Notifications } from './notifications.ts'

/** Tells one account's alerts, and remembers what was told. */
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
     * What is said is on disk before it is said: after a kill it is rather not said than said twice. Where it cannot
     * be written, it is said all the same.
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
