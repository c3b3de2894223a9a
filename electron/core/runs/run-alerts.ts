import { shortInstanceName } from '#contract/format/name.ts'
import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../notifications/alert.ts'
import type { Run } from './model.ts'

/** Alerts and Activity entries of an account's runs. */
export interface RunAlerts {
  /** Sends an alert; for a run of a job, which has alerts of its own, only an Activity entry. */
  tell(run: Run, alert: Alert): void
  note(run: Run, text: string, detail?: string): void
  /** The name of the run's instance. */
  nameOf(run: Run): string
}

export function runAlertsOf({
  account,
  store,
  activity,
  notifications,
}: Pick<AccountContext, 'account' | 'store' | 'activity' | 'notifications'>): RunAlerts {
  const note: RunAlerts['note'] = ({ instance }, text, detail) =>
    activity.add({ account, kind: 'berth', text, instance, detail: detail || undefined })
  return {
    note,
    tell(run, alert) {
      if (run.job === undefined) notifications.tell(account, [alert])
      else note(run, alert.title, alert.body)
    },
    nameOf: ({ instance = 0 }) =>
      shortInstanceName(store.get().accounts[account]?.instances[instance] ?? { id: instance }),
  }
}
