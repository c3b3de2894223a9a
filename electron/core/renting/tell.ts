import { money } from '#contract/format/money.ts'
import { gpuWords, shortInstanceName } from '#contract/format/name.ts'
import { counted } from '#contract/format/size.ts'
import type { AccountId } from '#contract/ids.ts'
import type { Problem } from '#contract/problem.ts'
import type { ActivityEntry } from '#contract/state.ts'
import type { AccountContext } from '#core/account-context.ts'
import type { Alert } from '#core/notifications/alert.ts'
import { type Retrying, spentOn, type Tried, type Try } from './rental.ts'
import { nothingAsGoodCode } from './words.ts'

/** The alert for a try whose answer was lost: that it failed, or that the user has to say which instance it is. */
export function rentalAlert(account: AccountId, { rental, step, offer, problem }: Tried): Alert {
  const { id, request } = rental
  const name = request.label ?? offer.gpuName ?? request.image
  const isUnclear = step === 'unclear'
  return {
    id: `${account}/rental/${id}`,
    kind: 'attempts',
    title: isUnclear ? 'A rental needs your answer' : 'Renting failed',
    body: isUnclear
      ? `The service didn’t say which new instance is ${name}. Choose it, or choose that there is none. Nothing else is rented until then.`
      : `${name}: ${problem?.message ?? 'nothing was rented.'}`,
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances' },
  }
}

/** The alert for a rental with retries that ended by itself: that it is ready, or why it failed. */
export function retriesAlert({ account, ...rental }: Retrying): Alert {
  const { id, step, instance, tries, retries, problem, request } = rental
  const base = { id: `${account}/rental/${id}`, kind: 'attempts' as const }
  const dropped = tries.filter(({ drop }) => drop).length
  const cost =
    dropped === 0
      ? ''
      : ` ${counted(dropped, 'dropped attempt', 'dropped attempts')} cost ${money(spentOn(rental))}.`
  if (step === 'ready' && instance !== undefined) {
    const { label } = request
    const name = shortInstanceName({ id: instance, label, gpu: { name: tries.at(-1)?.offer.gpuName } })
    return {
      ...base,
      instance,
      state: 'running',
      good: true,
      title: `${name} is ready`,
      body: `${request.access === 'ssh' ? 'It runs, and SSH answers' : 'It runs'}: attempt ${tries.length} of ${retries.attempts}.${cost}`,
      urgency: 'normal',
      actions: [{ id: 'terminal', label: 'Terminal' }],
      place: { screen: 'instances', instance, tab: 'terminal' },
    }
  }
  return {
    ...base,
    title:
      tries.length === 0
        ? `Nothing could be rented: ${problem?.code === 'prices_unknown' ? 'the service reports no prices' : 'no offer was within reach'}`
        : `Nothing could be rented after ${tries.length} ${tries.length === 1 ? 'attempt' : 'attempts'}`,
    body: `${problem?.message ?? ''}${cost}`.trim(),
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances' },
  }
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
