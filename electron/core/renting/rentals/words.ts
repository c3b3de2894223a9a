import type { AccountId } from '#contract/ids.ts'
import type { Problem } from '#contract/problem.ts'
import type { ActivityEntry } from '#contract/state.ts'
import type { Alert } from '#core/notifications/alert.ts'
import type { Rental } from './model.ts'

/** The code of an image that cannot be pulled, on any machine. */
export const noImage = 'no_image'

const sentences: Readonly<Record<string, Problem>> = {
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
    message: 'The image cannot be pulled: it does not exist, or needs a login.',
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

/** The problem of a rental that ended. */
export function sentenceFor(end: string): Problem {
  return sentences[end] ?? { code: end, message: 'The rental ended.' }
}

/** The alert for a rental whose answer was lost: that it failed, or that the user has to say which instance it is. */
export function rentalAlert(account: AccountId, { id, step, request, offer, problem }: Rental): Alert {
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

/** A rental's line in Activity. */
export function rentalEntry(
  text: string,
  { id, account, instance, offer, owner, request }: Rental,
  more: { kind?: 'user' | 'error'; detail?: string } = {},
): Omit<ActivityEntry, 'id' | 'at'> {
  return {
    account,
    kind: more.kind ?? 'berth',
    text: `${text}: ${request.label ?? offer.gpuName ?? 'offer'} (${request.image || request.template?.name})`,
    detail: more.detail ?? `Rental ${id}, offer ${offer.id}`,
    instance,
    rental: owner ?? id,
  }
}
