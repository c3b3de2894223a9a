import { money, rate } from '#contract/format/money.ts'
import { gpuWords, shortInstanceName } from '#contract/format/name.ts'
import { counted } from '#contract/format/size.ts'
import type { AccountId } from '#contract/ids.ts'
import { noImage as imageWords } from '#contract/instance/instance-words.ts'
import type { ListedOffer } from '#contract/market/catalogue.ts'
import { searchParts, searchPartWords } from '#contract/market/search-part.ts'
import type { Problem } from '#contract/problem.ts'
import { micros } from '#contract/spending/money.ts'
import type { ActivityEntry } from '#contract/state.ts'
import type { AccountContext } from '#core/account-context.ts'
import { type Alert, alertOf } from '#core/alerts/events.ts'
import { type Retrying, spentOn, type Tried, type Try } from './rental.ts'

/** The code of an image that cannot be pulled, on any machine. */
export const noImage = 'no_image'

const problems: Readonly<Record<string, Problem>> = {
  gone: {
    code: 'instance_gone',
    message: 'The instance is no longer on the account.',
    advice: 'It was destroyed elsewhere, or the service removed it. Rent another offer.',
  },
  crashed: {
    code: 'crashed',
    message: 'The container crashed while it started.',
    advice: 'Check the image and the start script. Destroy it and try another offer.',
  },
  ended: {
    code: 'ended',
    message: 'The instance exited before it ran: it was stopped, or its container crashed.',
    advice: 'Look at its log, and start it again, or destroy it so that its disk costs nothing.',
  },
  unstartable: {
    code: 'unstartable',
    message: 'The machine cannot start the container.',
    advice: 'Destroy it, and rent another machine or with another image.',
  },
  [noImage]: {
    code: noImage,
    message: imageWords,
    advice: 'Destroy it, and rent with another image.',
  },
  silent: {
    code: 'silent',
    message: 'The host sends no heartbeat, so the instance does not run now.',
    advice: 'The host may come back. If you cannot wait, destroy it and try another offer.',
  },
  offline: {
    code: 'offline',
    message: 'The host went offline, so the instance does not run now.',
    advice: 'The host may come back. If you cannot wait, destroy it and try another offer.',
  },
  outbid: {
    code: 'outbid',
    message: 'The bid is below what others pay: the instance is stopped.',
    advice: 'Raise the bid, or destroy it so that its disk costs nothing.',
  },
  stopped: {
    code: 'stopped',
    message: 'The instance was stopped before it ran.',
    advice: 'Start it again, or destroy it so that its disk costs nothing.',
  },
  late: {
    code: 'late',
    message: 'It takes longer than it should to be running.',
    advice: 'A large image on a slow line can need it. Wait longer, or destroy it and try another offer.',
  },
  no_gpu: {
    code: 'no_gpu',
    message: 'It is rented and waits for a GPU. Only its disk is billed until it runs.',
    advice: 'Wait, or destroy it and try another offer.',
  },
  not_new: {
    code: 'not_new',
    message: 'The service named an instance that you had before.',
    advice: 'Nothing new was found on the account. Try another offer.',
  },
  offer_gone: {
    code: 'offer_gone',
    message: 'Someone else was faster: this offer is gone.',
    advice: 'Pick another one like it; nothing was rented.',
  },
  not_created: {
    code: 'not_created',
    message: 'The service did not answer, and nothing new is on the account.',
    advice: 'Nothing was rented. Try again in a moment.',
  },
  too_old: {
    code: 'too_old',
    message: 'Berth ended before it was requested, and the price may have changed since.',
    advice: 'Nothing was rented. Rent it again if you still want it.',
  },
  list_uncertain: {
    code: 'list_uncertain',
    message: 'The answer was lost, and the service’s list of instances is not whole.',
    advice: 'Berth checks again, and rents nothing until it’s certain that nothing was created.',
  },
  unclear_unwanted: {
    code: 'unclear_unwanted',
    message: 'It was cancelled, but may have been created.',
    advice: 'Say which of the new instances it is: that one is destroyed.',
  },
  secrets_lost: {
    code: 'secrets_lost',
    message: 'Berth was closed before the service answered, and nothing new is on the account.',
    advice: 'Secret values were not kept, since this machine has no keychain. Rent it again.',
  },
}

/** The problem of a try that ended. */
export function sentenceFor(end: string): Problem {
  return problems[end] ?? { code: end, message: 'The rental ended.' }
}

/** Reasons for the user why rentals with retries end or drop a try. */
export const sentences = {
  late: {
    code: 'late',
    message: 'It was not running in time.',
  },
  noGpu: {
    code: 'no_gpu',
    message: 'No GPU was free for it in time.',
  },
  noSsh: {
    code: 'no_ssh',
    message: 'It runs, but Berth couldn’t log in over SSH in time.',
  },
  ceiling: {
    code: 'ceiling_reached',
    message: 'The attempts have cost what they may.',
    advice: 'Nothing is left of them. Allow more, or pick hosts with more reliability.',
  },
  attemptsUsedUp: {
    code: 'tries_used_up',
    message: 'None of the attempts came to anything.',
    advice: 'Nothing is left of them. Look at why each was dropped, or allow more attempts.',
  },
  crashedEverywhere: {
    code: 'tries_used_up',
    message: 'It crashed on every machine that was tried.',
    advice:
      'That speaks against the image or the start script rather than the hosts. Nothing is left of the attempts.',
  },
  noOffers: {
    code: 'no_offers',
    message: 'No further offer matches the search and its limits.',
    advice: 'Loosen the filter or the price, or forgive hosts that failed; nothing is left of the attempts.',
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
    advice: 'Rent an offer by hand, or bid.',
  },
  takenAway: {
    code: 'instance_gone',
    message: 'The instance was destroyed elsewhere while it was being tried.',
    advice: 'Nothing further is rented for it.',
  },
  stopped: {
    code: 'stopped',
    message: 'The instance was stopped elsewhere while it was being tried.',
    advice: 'It is kept, and its disk is charged: start or destroy it. Nothing further is rented.',
  },
} satisfies Record<string, Problem>

/** The recovery that waits shows it, so not every search does. */
export const nothingAsGoodCode = 'nothing_as_good'

/** The problem of a replacement for which the market has nothing as good. */
function nothingAsGood(instance: number, { search, request }: Pick<Retrying, 'search' | 'request'>): Problem {
  const asked = searchParts(search).map(part => searchPartWords(search, part))
  const bid = request.bid === undefined ? [] : [`for a bid of at most ${rate(micros(request.bid))}`]
  return {
    code: nothingAsGoodCode,
    message: `No offer is as good as #${instance}: ${[...asked, ...bid].join(', ')}.`,
    advice: 'Nothing worse is rented. Berth looks again later; allow a higher bid, or rent another by hand.',
  }
}

/** The problem where none of the offers that match is suitable. */
export function nothingFound(rental: Retrying, offers: readonly ListedOffer[]): Problem {
  if (rental.replaces !== undefined) return nothingAsGood(rental.replaces, rental)
  const untold = pricesUnknown(rental.request, offers)
  return untold ?? (rental.tries.length === 0 ? sentences.noneWithinReach : sentences.noOffers)
}

/** The problem where no offer tells a price and none is bid for. */
export function pricesUnknown(
  { bid }: Retrying['request'],
  offers: readonly Partial<Pick<ListedOffer, 'price'>>[],
): Problem | undefined {
  const untold = bid === undefined && offers.length > 0 && offers.every(({ price }) => price === undefined)
  return untold ? sentences.pricesUnknown : undefined
}

/** The alert for a try whose answer was lost: that it failed, or that the user has to say which instance it is. */
export function rentalAlert(account: AccountId, { rental, step, offer, problem }: Tried): Alert {
  const { id, request } = rental
  const name = request.label ?? offer.gpuName ?? request.image
  const isUnclear = step === 'unclear'
  return alertOf(isUnclear ? 'rentalUnclear' : 'rentalFailed', {
    id: `${account}/rental/${id}`,
    title: isUnclear ? 'A rental needs your answer' : 'Renting failed',
    body: isUnclear
      ? `The service didn’t say which new instance is ${name}. Choose it, or choose that there is none. Nothing else is rented until then.`
      : `${name}: ${problem?.message ?? 'nothing was rented.'}`,
  })
}

/** The alert for a rental with retries that ended by itself: that it is ready, or why it failed. */
export function retriesAlert({ account, ...rental }: Retrying): Alert {
  const { id, step, instance, tries, retries, problem, request } = rental
  const alertId = `${account}/rental/${id}`
  const dropped = tries.filter(({ drop }) => drop).length
  const cost =
    dropped === 0
      ? ''
      : ` ${counted(dropped, 'dropped attempt', 'dropped attempts')} cost ${money(spentOn(rental))}.`
  if (step === 'ready' && instance !== undefined) {
    const { label } = request
    const name = shortInstanceName({ id: instance, label, gpu: { name: tries.at(-1)?.offer.gpuName } })
    return alertOf('rentalReady', {
      id: alertId,
      instance,
      state: 'running',
      title: `${name} is ready`,
      body: `${request.access === 'ssh' ? 'It runs, and SSH answers' : 'It runs'}: attempt ${tries.length} of ${retries.attempts}.${cost}`,
    })
  }
  return alertOf('rentalFailed', {
    id: alertId,
    title:
      tries.length === 0
        ? `Nothing could be rented: ${problem?.code === 'prices_unknown' ? 'the service reports no prices' : 'no offer was within reach'}`
        : `Nothing could be rented after ${tries.length} ${tries.length === 1 ? 'attempt' : 'attempts'}`,
    body: `${problem?.message ?? ''}${cost}`.trim(),
  })
}

/** A try's line in Activity. */
export function tryEntry(
  text: string,
  { rental, mark, instance, offer }: Tried,
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
export function tryOf({ mark, rental: { tries, retries } }: Tried): string {
  return `Attempt ${tries.findIndex(one => one.mark === mark) + 1} of ${retries?.attempts ?? 1}`
}

/** `1 × RTX 4090 in Sweden, SE, machine 10012`. */
export function offerName({ gpuName, gpuCount, location, machineId }: Partial<Try['offer']>): string {
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

/** Adds an event to Activity; an end is an alert, unless a recovery reports it. */
export function tellOfRetries(
  { activity, notifications }: Pick<AccountContext, 'activity' | 'notifications'>,
  rental: Retrying,
  { text, detail, problem, instance, end }: RetryEvent,
): void {
  const { id, account, request, search, tries, why } = rental
  if (end && problem?.code !== nothingAsGoodCode) {
    notifications.tell(account, [retriesAlert(rental)])
    return
  }
  const what = request.label || search.filter.gpus?.join(', ') || request.image || request.template?.name
  const byUser = tries.length === 0 && !problem && (why === 'user' || why === 'run')
  activity.add({
    account,
    kind: end === 'failed' ? 'error' : byUser ? 'user' : 'berth',
    text: what ? `${text}: ${what}` : text,
    detail: problem?.message ?? detail,
    instance,
    rental: id,
  })
}
