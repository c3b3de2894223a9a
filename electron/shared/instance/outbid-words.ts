import { rate } from '../format/money.ts'
import type { Problem } from '../problem.ts'
import type { InstanceView } from './instance.ts'

/** All sentences about an interruptible instance that was outbid, except Berth's reaction to it (a recovery). */

/** The bids in the row of an instance, without advice. */
export function outbidWords({ bid, minimumBid }: InstanceView): string {
  const yours = bid === undefined ? 'Someone bids more' : `Your bid ${rate(bid)}`
  const higher = bid === undefined ? '' : ', the minimum is higher'
  return `${yours}${minimumBid === undefined ? higher : `, minimum now ${rate(minimumBid)}`}. Files are kept.`
}

/** The same in an alert. */
export function outbidAlert(instance: InstanceView): string {
  return `${outbidWords(instance)} Its disk is billed.`
}

/** One at rest whose bid is too low. Deployments may show it as stopped, so only Berth's own stop is certain. */
export function lowBidWords({ state, stateRequest, bid = 0, minimumBid = 0 }: InstanceView): string {
  const bids = `Minimum bid is now ${rate(minimumBid)} (yours: ${rate(bid)}). Raise it to start.`
  if (stateRequest?.state === 'stopped') return bids
  return `It was outbid or stopped${state === 'ended' ? ', or has crashed' : ''}. ${bids}`
}

/** A rental's instance before it ran. */
export const rentalOutbid: Problem = {
  code: 'outbid',
  message: 'Your bid is below the minimum, so the instance is stopped.',
  advice: 'Raise the bid, or destroy it to stop paying for its disk.',
}

/** A run's machine. */
export const runOutbid: Problem = {
  code: 'outbid',
  message: 'Its machine was outbid.',
  advice: 'Raise its bid, then resume. Or destroy it and run it again.',
}
