import type { Problem } from '../../contract/problem.ts'

const sentences: Readonly<Record<string, Problem>> = {
  gone: {
    code: 'instance_gone',
    message: 'The instance is no longer on the account.',
    advice: 'It was destroyed elsewhere, or the service removed it. Rent another offer.',
  },
  crashed: {
    code: 'crashed',
    message: 'The container crashed while it started, and will not run again.',
    advice: 'Check the image and the start script. Destroy it and try another offer.',
  },
  silent: {
    code: 'silent',
    message: 'The host sends no heartbeat, and the instance will not run.',
    advice: 'Destroy it and try another offer.',
  },
  offline: {
    code: 'offline',
    message: 'The host went offline, and the instance will not run.',
    advice: 'Destroy it and try another offer.',
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

/** What to tell of a rental that came to this. */
export function sentenceFor(end: string): Problem {
  return sentences[end] ?? { code: end, message: 'The rental ended.' }
}
