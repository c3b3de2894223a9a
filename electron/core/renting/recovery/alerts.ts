import { instanceName, shortInstanceName } from '#contract/format/name.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '#core/account-context.ts'

type NotifyContext = Pick<AccountContext, 'account' | 'activity' | 'notifications'>

/** Writes a step of a recovery into Activity. */
export function noteOfRecovery(
  { account, activity }: NotifyContext,
  instance: InstanceView,
  text: string,
): void {
  activity.add({ account, instance: instance.id, kind: 'berth', text: `${text}: ${instanceName(instance)}` })
}

/** Alerts about what a recovery has done, or with a problem, why it does nothing. */
export function notifyOfRecovery(
  { account, notifications }: NotifyContext,
  instance: InstanceView,
  text: string,
  problem?: Problem,
): void {
  const { id } = instance
  const { message, advice } = problem ?? { message: 'It starts again automatically.' }
  notifications.tell(account, [
    {
      id: `${account}/recovery/${id}`,
      kind: 'recovery',
      instance: id,
      title: `${shortInstanceName(instance)}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
      body: advice === undefined ? message : `${message} ${advice}`,
      urgency: problem ? 'critical' : 'normal',
      actions: problem ? [{ id: 'raise_bid', label: 'Raise bid' }] : [],
      place: { screen: 'instances', instance: id },
    },
  ])
}
