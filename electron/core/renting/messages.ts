import type { AccountContext } from '#core/account-context.ts'
import { type Alert, alertOf } from '#core/alerts/events.ts'
import { money, rate } from '#shared/format/money.ts'
import { gpuWords, shortInstanceName } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { noImageMessage as imageWords } from '#shared/instance/instance-words.ts'
import { rentalOutbid } from '#shared/instance/outbid-words.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import { searchParts, searchPartWords } from '#shared/market/search-part.ts'
import type { Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { ActivityEntry } from '#shared/state.ts'
import { type Attempt, type RentalAttempt, type Retrying, spentOn } from './rental.ts'

/** The code of an image that cannot be pulled, on any machine. */
export const noImageCode = 'no_image'

const problems: Readonly<Record<string, Problem>> = {
  gone: {
    code: 'instance_gone',
    message: 'The instance is no longer on the account.',
    advice: 'It was destroyed elsewhere, or the service removed it. Rent another one.',
  },
  crashed: {
    code: 'crashed',
    message: 'The container crashed while starting.',
    advice: 'Check its log, the image and the start script. Restart it, or move to another machine.',
  },
  ended: {
    code: 'ended',
    message: 'The instance exited before it ran: it was stopped, or its container crashed.',
    advice: 'Check its log and start it again, or destroy it to stop paying for its disk.',
  },
  unstartable: {
    code: 'unstartable',
    message: 'The host can’t start the container.',
    advice: 'Destroy it, then try another machine or image.',
  },
  [noImageCode]: {
    code: noImageCode,
    message: imageWords,
    advice: 'Destroy it, then rent with another image.',
  },
  silent: {
    code: 'silent',
    message: 'The host stopped sending a heartbeat, so the instance isn’t running.',
    advice: 'The host may come back. If you can’t wait, destroy it and try another offer.',
  },
  offline: {
    code: 'offline',
    message: 'The host went offline, so the instance isn’t running.',
    advice: 'The host may come back. If you can’t wait, destroy it and try another offer.',
  },
  outbid: rentalOutbid,
  stopped: {
    code: 'stopped',
    message: 'The instance was stopped before it ran.',
    advice: 'Start it again, or destroy it to stop paying for its disk.',
  },
  late: {
    code: 'late',
    message: 'It’s taking longer than usual to start.',
    advice:
      'A large image on a slow connection can take this long. Wait, or destroy it and try another offer.',
  },
  no_gpu: {
    code: 'no_gpu',
    message: 'It’s rented and waiting for a GPU. Until it runs, you only pay for its disk.',
    advice: 'Wait, or destroy it and try another offer.',
  },
  not_new: {
    code: 'not_new',
    message: 'The service returned an instance you already had.',
    advice: 'No new instance is on the account. Try another offer.',
  },
  offer_gone: {
    code: 'offer_gone',
    message: 'This offer is gone: someone else rented it first.',
    advice: 'Nothing was rented. Pick a similar offer.',
  },
  came_late: {
    code: 'came_late',
    message: 'The service said no, and the machine appeared later.',
    advice: 'Berth destroyed it. What it had cost by then counts for its rental.',
  },
  not_created: {
    code: 'not_created',
    message: 'The service didn’t answer, and no new instance is on the account.',
    advice: 'Nothing was rented. Try again in a moment.',
  },
  too_old: {
    code: 'too_old',
    message: 'Berth quit before requesting it, and the price may have changed since.',
    advice: 'Nothing was rented. Rent it again if you still want it.',
  },
  list_uncertain: {
    code: 'list_uncertain',
    message: 'The answer was lost, and the service’s instance list is incomplete.',
    advice: 'Berth keeps checking, and rents nothing until it’s certain that nothing was created.',
  },
  unclear_unwanted: {
    code: 'unclear_unwanted',
    message: 'It was cancelled, but an instance may have been created.',
    advice: 'Choose which new instance it is. That one is destroyed.',
  },
  secrets_lost: {
    code: 'secrets_lost',
    message: 'Berth was closed before the service answered, and no new instance is on the account.',
    advice: 'Secret values weren’t kept, as this computer has no keychain. Rent it again.',
  },
}

/** The problem of an attempt that ended. */
export function sentenceFor(end: string): Problem {
  return problems[end] ?? { code: end, message: 'The rental ended.' }
}

/** Reasons for the user why rentals with retries end or drop an attempt. */
export const sentences = {
  late: {
    code: 'late',
    message: 'It didn’t start in time.',
  },
  noGpu: {
    code: 'no_gpu',
    message: 'No GPU was free for it in time.',
  },
  noSsh: {
    code: 'no_ssh',
    message: 'It’s running, but Berth couldn’t log in over SSH in time.',
  },
  ceiling: {
    code: 'ceiling_reached',
    message: 'The budget for attempts is used up.',
    advice: 'All of them were destroyed. Allow more, or require more reliable hosts.',
  },
  attemptsUsedUp: {
    code: 'tries_used_up',
    message: 'All attempts failed.',
    advice: 'All of them were destroyed. Check why each was dropped, or allow more attempts.',
  },
  crashedEverywhere: {
    code: 'tries_used_up',
    message: 'It crashed on every machine tried.',
    advice: 'The cause is probably the image or start script, not the hosts. All attempts were destroyed.',
  },
  noOffers: {
    code: 'no_offers',
    message: 'No other offer matches the search and its limits.',
    advice: 'Loosen the filter or the price, or forgive hosts that failed. All attempts were destroyed.',
  },
  noneWithinReach: {
    code: 'no_offers',
    message: 'No offer matches the search within its limits, so none was tried.',
    advice: 'Loosen the filter, allow a higher price or bid, or forgive hosts that failed.',
  },
  pricesUnknown: {
    code: 'prices_unknown',
    message:
      'The service’s offers have no prices, so Berth can’t keep to a limit and rents nothing automatically.',
    advice: 'Rent an offer yourself, or bid.',
  },
  takenAway: {
    code: 'instance_gone',
    message: 'The instance was destroyed elsewhere while it was being tried.',
    advice: 'Berth won’t rent another.',
  },
  limitDestroyed: {
    code: 'limit_acted',
    message: 'Its limit destroyed it before Berth saw that it was ready.',
    advice: 'It was destroyed with its files. Rent another one.',
  },
  limitStopped: {
    code: 'limit_acted',
    message: 'Its limit stopped it before Berth saw that it was ready.',
    advice: 'It’s kept, and its disk is billed: start or destroy it.',
  },
  destroyedByUser: {
    code: 'instance_gone',
    message: 'You destroyed the instance while it was being tried.',
    advice: 'Berth won’t rent another.',
  },
  stoppedByUser: {
    code: 'stopped',
    message: 'You stopped the instance while it was being tried.',
    advice: 'It’s kept, and its disk is billed: start or destroy it. Berth won’t rent another.',
  },
  stopped: {
    code: 'stopped',
    message: 'The instance was stopped elsewhere while it was being tried.',
    advice: 'It’s kept, and its disk is billed: start or destroy it. Berth won’t rent another.',
  },
} satisfies Record<string, Problem>

/** The recovery that waits shows it, so not every search does. */
export const nothingAsGoodCode = 'nothing_as_good'

/** The problem of a replacement for which the market has nothing as good. */
function nothingAsGood(instance: number, { search, request }: Pick<Retrying, 'search' | 'request'>): Problem {
  const parts = searchParts(search).map(part => searchPartWords(search, part))
  const bid = request.bid === undefined ? [] : [`for a bid of at most ${rate(micros(request.bid))}`]
  return {
    code: nothingAsGoodCode,
    message: `No offer is as good as #${instance}: ${[...parts, ...bid].join(', ')}.`,
    advice: 'Berth rents nothing worse and keeps looking. Allow a higher bid, or rent another yourself.',
  }
}

/** The problem where none of the offers that match is suitable. */
export function nothingFound(rental: Retrying, offers: readonly ListedOffer[]): Problem {
  if (rental.replaces !== undefined) return nothingAsGood(rental.replaces, rental)
  const untold = pricesUnknown(rental.request, offers)
  return untold ?? (rental.attempts.length === 0 ? sentences.noneWithinReach : sentences.noOffers)
}

/** The problem if no offer has a price and there is no bid. */
export function pricesUnknown(
  { bid }: Retrying['request'],
  offers: readonly Partial<Pick<ListedOffer, 'price'>>[],
): Problem | undefined {
  const untold = bid === undefined && offers.length > 0 && offers.every(({ price }) => price === undefined)
  return untold ? sentences.pricesUnknown : undefined
}

/** The alert for an attempt whose answer was lost: that it failed, or that the user has to say which instance it is. */
export function rentalAlert(account: AccountId, { rental, step, offer, problem }: RentalAttempt): Alert {
  const { id, request } = rental
  const name = request.label ?? offer.gpuName ?? request.image
  const isUnclear = step === 'unclear'
  return alertOf(isUnclear ? 'rentalUnclear' : 'rentalFailed', {
    id: `${account}/rental/${id}`,
    title: isUnclear ? 'A rental needs your answer' : 'Renting failed',
    body: isUnclear
      ? `The service didn’t say which new instance is ${name}. Choose it, or choose that there’s none. Renting waits for your answer.`
      : `${name}: ${problem?.message ?? 'nothing was rented.'}`,
  })
}

/** Why a machine that costs far more than was confirmed is destroyed. Micro-dollars per hour. */
export function dearerThanConfirmed(confirmed: Micros, price: Micros): Problem {
  return {
    code: 'dearer',
    message: `It costs ${rate(price)} instead of the ${rate(confirmed)} that you confirmed, so Berth destroys it. Nothing was on it yet.`,
    advice: `Rent it again if ${rate(price)} is fine, or choose another offer.`,
  }
}

/** A machine appeared after its rental had failed: takes the place of the alert about that. `view`: the machine. */
export function cameLateAlert(account: AccountId, rental: string, view: InstanceView): Alert {
  const { costPerHour } = view
  const cost =
    costPerHour > 0 ? ` It costs ${rate(costPerHour)} until then, which counts for the rental.` : ''
  return alertOf('rentalFailed', {
    id: rentalAlertId(account, rental),
    instance: view.id,
    title: 'A machine appeared after renting had failed',
    body: `The service had said no, and ${shortInstanceName(view)} appeared later. Berth destroys it.${cost}`,
  })
}

/** The id of the alert about a rental's end. */
export function rentalAlertId(account: string, rental: string): string {
  return `${account}/rental/${rental}`
}

/** The alert for a rental with retries that ended automatically: that it is ready, or why it failed. */
export function retriesAlert({ account, ...rental }: Retrying): Alert {
  const { id, step, instance, attempts, retries, problem, request, group } = rental
  const alertId = rentalAlertId(account, id)
  const dropped = attempts.filter(({ drop }) => drop).length
  const cost =
    dropped === 0
      ? ''
      : ` ${counted(dropped, 'dropped attempt', 'dropped attempts')} cost ${money(spentOn(rental))}.`
  if (step === 'ready' && instance !== undefined) {
    const { label } = request
    const name = shortInstanceName({ id: instance, label, gpu: { name: attempts.at(-1)?.offer.gpuName } })
    return alertOf('rentalReady', {
      id: alertId,
      instance,
      state: 'running',
      group,
      title: `${name} is ready`,
      body: `${
        request.access === 'ssh' ? 'It’s running and SSH works' : 'It’s running'
      }: attempt ${attempts.length} of ${retries.attempts}.${cost}`,
    })
  }
  return alertOf('rentalFailed', {
    id: alertId,
    title:
      attempts.length === 0
        ? `Nothing could be rented: ${problem?.code === 'prices_unknown' ? 'the service reports no prices' : 'no offer met your limits'}`
        : `Nothing could be rented after ${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'}`,
    body: `${problem?.message ?? ''}${cost}`.trim(),
  })
}

/** An attempt's line in Activity. */
export function tryEntry(
  text: string,
  { rental, mark, instance, offer }: RentalAttempt,
  more: { kind?: 'user' | 'error'; detail?: string } = {},
): Omit<ActivityEntry, 'id' | 'at'> {
  const { id, account, request } = rental
  return {
    account,
    kind: more.kind ?? 'berth',
    text: `${text}: ${request.label ?? offer.gpuName ?? 'offer'} (${request.image || request.template?.name})`,
    detail: more.detail ?? `Rental ${mark}, offer ${offer.id}`,
    instance,
    rental: id,
  }
}

/** `Attempt 2 of 5`. */
export function attemptOf({ mark, rental: { attempts, retries } }: RentalAttempt): string {
  return `Attempt ${attempts.findIndex(one => one.mark === mark) + 1} of ${retries?.attempts ?? 1}`
}

/** `1 × RTX 4090 in Sweden, SE, machine 10012`. */
export function attemptedOfferName({
  gpuName,
  gpuCount,
  location,
  machineId,
}: Partial<Attempt['offer']>): string {
  const gpu = gpuName === undefined ? 'an offer' : gpuWords({ gpuCount, gpuName })
  const place = location === undefined ? '' : ` in ${location}`
  return `${gpu}${place}${machineId === undefined ? '' : `, machine ${machineId}`}`
}

/** Reports the progress of a rental with retries. */
interface RetryEvent {
  text: string
  detail?: string
  problem?: Problem
  instance?: number
  /** How it ended, which is an alert. */
  end?: 'ready' | 'failed'
}

/** Adds an event to Activity; an end is an alert, unless a recovery reports it, or a run, which may wait for an offer. */
export function tellOfRetries(
  { activity, notifications }: Pick<AccountContext, 'activity' | 'notifications'>,
  rental: Retrying,
  { text, detail, problem, instance, end }: RetryEvent,
): void {
  const { id, account, request, search, attempts, why } = rental
  const isForRun = why === 'run' && end === 'failed' && attempts.length === 0
  if (end && problem?.code !== nothingAsGoodCode && !isForRun) {
    notifications.tell(account, [retriesAlert(rental)])
    return
  }
  const what = request.label || search.filter.gpus?.join(', ') || request.image || request.template?.name
  // The run says whether it fails with it or goes on waiting.
  const happened = isForRun && problem?.code === 'no_offers' ? 'No offer fits now' : text
  const byUser = attempts.length === 0 && !problem && (why === 'user' || why === 'run')
  activity.add({
    account,
    kind: end === 'failed' && !isForRun ? 'error' : byUser ? 'user' : 'berth',
    text: what ? `${happened}: ${what}` : happened,
    detail: problem?.message ?? detail,
    instance,
    rental: id,
  })
}
