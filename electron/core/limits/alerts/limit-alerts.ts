import type { AccountContext } from '#core/account-context.ts'
import type { Alert } from '#core/notifications/alert.ts'
import { type LimitScene, limitAlertId } from './alerts.ts'

/** Alerts and Activity entries of an account's limits. */
export interface LimitAlerts {
  note(kind: 'user' | 'alert' | 'berth', text: string, detail?: string, instance?: number): void
  alert(alert: Alert): void
  /** Withdraws a limit's alert. */
  withdraw(limit: string): void
  /** `at`: epoch seconds of the account's time. */
  scene(at: number): LimitScene
}

export function limitAlertsOf({
  account,
  store,
  activity,
  notifications,
}: Pick<AccountContext, 'account' | 'store' | 'activity' | 'notifications'>): LimitAlerts {
  const note: LimitAlerts['note'] = (kind, text, detail, instance) =>
    activity.add({ account, kind, text, detail: detail || undefined, instance })
  return {
    note,
    alert: alert => notifications.tell(account, [alert]),
    withdraw: limit => notifications.withdraw(limitAlertId(account, limit)),
    scene: at => ({ account, instances: store.get().accounts[account]?.instances ?? {}, now: at }),
  }
}
