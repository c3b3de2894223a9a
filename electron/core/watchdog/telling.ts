import type { WatchdogDeed, WatchdogReason, WatchdogWish } from '../../contract/automation/watchdog.ts'
import type { AccountId } from '../../contract/ids.ts'
import type { Alert } from '../alerts/alerts.ts'

const reasonSentences: Record<WatchdogReason, string> = {
  time: 'Its time had come.',
  idle: 'Its GPUs were idle for as long as was set.',
  lease: 'Berth had not renewed its lease for as long as was set.',
  run: 'The run on it had ended.',
}

/** What a watchdog has done; `seems` where only its effect was seen. */
export function deedAlert(
  account: AccountId,
  instance: number,
  name: string,
  { action, why }: WatchdogDeed,
  seems: boolean,
): Alert {
  const did = action === 'stop' ? 'stopped' : 'destroyed'
  return {
    ...about(account, instance),
    title: `${name} was ${did} by its watchdog${seems ? ', as it seems' : ''}`,
    body: reasonSentences[why],
  }
}

/** It was there, and is not any more. */
export function goneAlert(account: AccountId, instance: number, name: string): Alert {
  return {
    ...about(account, instance),
    title: `The watchdog of ${name} is gone`,
    body: 'Something on the instance removed it. Nothing there stops it any more: put it there again.',
  }
}

function about(account: AccountId, instance: number): Omit<Alert, 'title' | 'body'> {
  return {
    id: `${account}/watchdog/${instance}`,
    kind: 'guard',
    instance,
    urgency: 'normal',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances', instance },
  }
}

/** What is in force, for Activity. */
export function wishSentence({ action, at, idle, lease }: WatchdogWish): string {
  const verb = action === 'stop' ? 'Stops' : 'Destroys'
  const reasons = [
    ...(at === undefined ? [] : [`at ${new Date(at * 1000).toISOString()}`]),
    ...(idle ? [`after ${idle.seconds} s below ${idle.below} % of load`] : []),
    ...(lease === undefined ? [] : [`once Berth is away for ${lease} s`]),
  ]
  return reasons.length > 0 ? `${verb} it ${reasons.join(', or ')}.` : 'Waits for the end of runs.'
}
