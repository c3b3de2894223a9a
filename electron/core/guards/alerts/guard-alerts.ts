import type { AccountContext } from '#core/account-context.ts'
import type { Alert } from '#core/notifications/alert.ts'
import { type GuardScene, guardAlertId } from './alerts.ts'

/** Alerts and Activity entries of an account's guards. */
export interface GuardAlerts {
  note(kind: 'user' | 'alert' | 'berth', text: string, detail?: string, instance?: number): void
  alert(alert: Alert): void
  /** Withdraws a guard's alert. */
  withdraw(guard: string): void
  /** `at`: epoch seconds of the account's time. */
  scene(at: number): GuardScene
}

export function guardAlertsOf({
  account,
  store,
  activity,
  notifications,
}: Pick<AccountContext, 'account' | 'store' | 'activity' | 'notifications'>): GuardAlerts {
  const note: GuardAlerts['note'] = (kind, text, detail, instance) =>
    activity.add({ account, kind, text, detail: detail || undefined, instance })
  return {
    note,
    alert: alert => notifications.tell(account, [alert]),
    withdraw: guard => notifications.withdraw(guardAlertId(account, guard)),
    scene: at => ({ account, instances: store.get().accounts[account]?.instances ?? {}, now: at }),
  }
}
