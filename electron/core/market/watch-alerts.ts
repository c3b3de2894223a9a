import { rate } from '#contract/format/money.ts'
import { count } from '#contract/format/size.ts'
import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../alerts/events.ts'
import type { Watch } from './watch.ts'
import type { WatchResult } from './watch-matches.ts'

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

/** One id per watch, so that a later alert replaces the earlier one. */
function watchAlertId({ account, id }: Pick<Watch, 'account' | 'id'>): string {
  return `${account}/watch/${id}`
}

/** The alert for new offers, which leads to renting the cheapest one. Undefined when there are none. */
export function matchAlert(
  watch: Watch,
  { fresh, matching }: Pick<WatchResult, 'fresh' | 'matching'>,
): Alert | undefined {
  const [best] = fresh
  if (!best) return undefined
  const { gpuName, gpuCount, location } = best.offer
  const { query, filter } = watch.request.search
  return {
    id: watchAlertId(watch),
    kind: 'watch',
    title: `${gpuCount && gpuCount > 1 ? `${gpuCount} × ` : ''}${gpuName ?? 'A machine'} at ${rate(best.price ?? 0)}`,
    body: `${location ? `${location}. ` : ''}“${watch.request.name}”: ${count(fresh.length)} new, ${count(matching.length)} match${matching.length === 1 ? 'es' : ''} now.`,
    urgency: 'normal',
    actions: [{ id: 'rent', label: 'Rent…' }],
    place: { screen: 'offers', search: { query, filter }, offer: best.offer.id },
  }
}

/** The alert for a renting watch that is done or stopped. */
export function watchDoneAlert(watch: Watch, title: string, body: string): Alert {
  return {
    id: watchAlertId(watch),
    kind: 'watch',
    title,
    body,
    urgency: 'normal',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances' },
  }
}
