import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../notifications/alert.ts'
import { watchAlertId } from './alerts.ts'
import type { Watch } from './model.ts'

/** Alerts and Activity entries of watches. */
export interface WatchAlerts {
  note(kind: 'user' | 'berth' | 'error', text: string, detail?: string): void
  alert(alert: Alert): void
  withdraw(watch: Watch): void
}

export function watchAlerts({
  account,
  activity,
  notifications,
}: Pick<AccountContext, 'account' | 'activity' | 'notifications'>): WatchAlerts {
  return {
    note: (kind, text, detail) => activity.add({ account, kind, text, detail: detail || undefined }),
    alert: alert => notifications.tell(account, [alert]),
    withdraw: watch => notifications.withdraw(watchAlertId(watch)),
  }
}
