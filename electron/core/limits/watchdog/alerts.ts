import type { WatchdogEnding, WatchdogReason, WatchdogRequest } from '#contract/automation/watchdog.ts'
import { shortInstanceName } from '#contract/format/name.ts'
import { percent } from '#contract/format/size.ts'
import { duration } from '#contract/format/time.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { AccountContext } from '#core/account-context.ts'
import type { Alert } from '#core/notifications/alert.ts'

const reasonSentences: Record<WatchdogReason, string> = {
  time: 'Its time had come.',
  idle: 'Its GPUs were idle for as long as was set.',
  lease: 'Berth had not renewed its lease for as long as was set.',
  run: 'The run on it had ended.',
}

/** The alerts of an account's watchdogs. */
export interface WatchdogAlerts {
  /** What a watchdog has done; `seems` if only the effect was seen. */
  ended(did: WatchdogEnding, instance: number, seems?: boolean): void
  /** It goes by idle time, and cannot read the GPU load. */
  blind(instance: number): void
  /** The watchdog disappeared. */
  gone(instance: number): void
  nameOf(instance: number): string
  /** Remembers an instance's name for when it is gone. */
  saw(instance: InstanceView | undefined): void
}

export function createWatchdogAlerts({
  account,
  store,
  notifications,
}: Pick<AccountContext, 'account' | 'store' | 'notifications'>): WatchdogAlerts {
  const names = new Map<number, string>()
  const viewOf = (instance: number) => store.get().accounts[account]?.instances[instance]

  function nameOf(instance: number): string {
    const view = viewOf(instance)
    return view ? shortInstanceName(view) : (names.get(instance) ?? shortInstanceName({ id: instance }))
  }

  function tell(instance: number, title: string, body: string): void {
    notifications.tell(account, [alertOf(account, instance, title, body)])
  }

  return {
    nameOf,
    saw(view) {
      if (view) names.set(view.id, shortInstanceName(view))
    },
    ended({ action, why }, instance, seems = false) {
      const did = action === 'stop' ? 'stopped' : 'destroyed'
      const doubt = seems ? 'probably ' : ''
      tell(instance, `${nameOf(instance)} was ${doubt}${did} by its watchdog`, reasonSentences[why])
    },
    blind(instance) {
      tell(
        instance,
        `The watchdog of ${nameOf(instance)} can’t see its load`,
        'nvidia-smi there reports no load, so idle time doesn’t count. Set a time as well.',
      )
    },
    gone(instance) {
      tell(
        instance,
        `The watchdog of ${nameOf(instance)} is gone`,
        'Something on the instance removed it, so nothing there stops the instance now. Install it again.',
      )
    },
  }
}

function alertOf(account: AccountId, instance: number, title: string, body: string): Alert {
  return {
    id: `${account}/watchdog/${instance}`,
    kind: 'limit',
    instance,
    title,
    body,
    urgency: 'normal',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances', instance },
  }
}

/** A request as a sentence, for Activity. */
export function requestSentence({ action, at, idle, lease }: WatchdogRequest): string {
  const verb = action === 'stop' ? 'Stops' : 'Destroys'
  const reasons = [
    ...(at === undefined ? [] : [`at ${new Date(at * 1000).toISOString()}`]),
    ...(idle ? [`after ${duration(idle.seconds)} below ${percent(idle.below)} of load`] : []),
    ...(lease === undefined ? [] : [`once Berth is away for ${duration(lease)}`]),
  ]
  return reasons.length > 0 ? `${verb} it ${reasons.join(', or ')}.` : 'Waits for the end of runs.'
}
