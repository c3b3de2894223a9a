import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../notifications/alert.ts'
import { watchAlertId } from './alerts.ts'
import type { Watch } from './model.ts'

/** How watches are told of: in Activity, and in notifications where those of watches are on. */
export interface WatchTelling {
  note(kind: 'user' | 'berth' | 'error', text: string, detail?: string): void
  alert(alert: Alert): void
  withdraw(watch: Watch): void
}

export function watchTelling({
  account,
  store,
  activity,
  teller,
}: Pick<AccountContext, 'account' | 'store' | 'activity' | 'teller'>): WatchTelling {
  return {
    note: (kind, text, detail) => activity.add({ account, kind, text, detail: detail || undefined }),
    alert(alert) {
      if (store.get().settings.alerts.watch) teller.tell(account, [alert])
    },
    withdraw: watch => teller.withdraw(watchAlertId(watch)),
  }
}
