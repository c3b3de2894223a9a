import { instanceName } from '../../../contract/format/name.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { AccountContext } from '../../account-context.ts'

/** What is told of a recovery as it happens. */
interface RecoveryEvent {
  instance: InstanceView
  text: string
  /** Of interest beyond Activity: what was done, or why nothing is. */
  kind: 'done' | 'held' | 'note'
  problem?: Problem
}

/** Writes it into Activity, and notifies of what was done and of what cannot be. */
export function notifyOfRecovery(
  {
    account,
    store,
    activity,
    notifications,
  }: Pick<AccountContext, 'account' | 'store' | 'activity' | 'notifications'>,
  { instance, text, kind, problem }: RecoveryEvent,
): void {
  const { id } = instance
  activity.add({
    account,
    instance: id,
    kind: kind === 'held' ? 'error' : 'berth',
    text: `${text}: ${instanceName(instance)}`,
    detail: problem?.message,
  })
  if (kind === 'note' || !store.get().settings.alerts.recovery) return
  const { message, advice } = problem ?? { message: 'It starts again by itself.' }
  notifications.tell(account, [
    {
      id: `${account}/recovery/${id}`,
      kind: 'recovery',
      instance: id,
      title: `${instanceName(instance)}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
      body: advice === undefined ? message : `${message} ${advice}`,
      urgency: kind === 'held' ? 'critical' : 'normal',
      actions: kind === 'held' ? [{ id: 'raise_bid', label: 'Raise bid' }] : [],
      place: { screen: 'instances', instance: id },
    },
  ])
}
