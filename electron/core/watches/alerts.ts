import type { ListedOffer } from '../../contract/market/catalogue.ts'
import type { Alert } from '../notifications/alert.ts'
import { pricePerHour } from '../notifications/wording.ts'
import type { Watch } from './model.ts'

/** One matter for each watch: a later alert takes the place of the earlier one. */
export function watchAlertId({ account, id }: Pick<Watch, 'account' | 'id'>): string {
  return `${account}/watch/${id}`
}

/** What is new on the market for a watch: the cheapest of it, one click from rented. Undefined when nothing is. */
export function matchAlert(watch: Watch, fresh: readonly ListedOffer[]): Alert | undefined {
  const [best] = fresh
  if (!best) return undefined
  const { gpuName, gpuCount, location } = best.offer
  const more = fresh.length - 1
  const { query, filter } = watch.wish.search
  return {
    id: watchAlertId(watch),
    kind: 'watch',
    title: `${gpuCount && gpuCount > 1 ? `${gpuCount} × ` : ''}${gpuName ?? 'A machine'} at ${pricePerHour(best.price ?? 0)}`,
    body: `${location ? `${location}. ` : ''}It matches “${watch.wish.name}”${more === 0 ? '' : `, as ${more === 1 ? 'does' : 'do'} ${more.toLocaleString('en-US')} more`}.`,
    urgency: 'normal',
    actions: [{ id: 'show', label: 'Rent…' }],
    place: { screen: 'offers', search: { query, filter }, offer: best.offer.id },
  }
}

/** A watch that rents has come to its end. */
export function doneAlert(watch: Watch, title: string, body: string): Alert {
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
