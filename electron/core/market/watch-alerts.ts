import { rate } from '#contract/format/money.ts'
import { count } from '#contract/format/size.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { Watch } from './watch.ts'
import type { WatchResult } from './watch-matches.ts'

/** One id per watch, so that a later alert replaces the earlier one. */
export function watchAlertId({ account, id }: Pick<Watch, 'account' | 'id'>): string {
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
  return alertOf('offersFound', {
    id: watchAlertId(watch),
    title: `${gpuCount && gpuCount > 1 ? `${gpuCount} × ` : ''}${gpuName ?? 'A machine'} at ${rate(best.price ?? 0)}`,
    body: `${location ? `${location}. ` : ''}“${watch.request.name}”: ${count(fresh.length)} new, ${count(matching.length)} match${matching.length === 1 ? 'es' : ''} now.`,
    place: { screen: 'offers', search: { query, filter }, offer: best.offer.id },
  })
}

/** The alert for a renting watch that is done or stopped. */
export function watchDoneAlert(watch: Watch, title: string, body: string): Alert {
  return alertOf('watchDone', { id: watchAlertId(watch), title, body })
}
