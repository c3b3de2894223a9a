import type { Sentence } from './two-factor-sentences.ts'
import { twoFactorSentences } from './two-factor-sentences.ts'

/** Section 7, general table, and `not_found`. */
export const generalSentences = {
  invalid_args: {
    message: 'The service refused the request: a value is missing or not allowed.',
    advice: 'Check what you entered and try again.',
  },
  invalid_permissions: {
    message: 'The permissions for the new key are not valid.',
    advice: 'Choose the permissions again from the list.',
  },
  missing_permissions: {
    message: 'The new key has no permissions.',
    advice: 'Choose at least one permission, or make a key with full access.',
  },
  not_authorized: {
    message: 'Only the owner of the machine may do this.',
    advice: 'Use a key of the account that owns the machine.',
  },
  no_such_instance: {
    message: 'This instance no longer exists.',
    advice: 'Refresh the list of instances.',
  },
  no_such_user: {
    message: 'The source or the destination of the copy was not found, or this account may not use it.',
    advice: 'Check both instances and paths.',
  },
  // From the two-factor table, and also for machines and any 404 without a code.
  not_found: {
    message: 'The service has nothing under this id.',
    advice: 'Refresh; it may have been removed in the meantime.',
  },
} satisfies Record<string, Sentence>

/** Failures without a code of the service. */
const ownSentences = {
  offline: {
    message: 'The service could not be reached.',
    advice: 'Check the internet connection and the base URL.',
  },
  connection_lost: {
    message: 'The connection broke before the service’s answer came.',
    advice: 'Try again.',
  },
  untrusted_certificate: {
    message:
      'No secure connection could be made: the service’s certificate is not valid, so nothing was sent.',
    advice: 'Check the base URL and this machine’s clock; a proxy may be in between.',
  },
  timeout: {
    message: 'The service did not answer in time.',
    advice: 'Try again in a moment.',
  },
  aborted: {
    message: 'The request was cancelled.',
    advice: 'Start it again if you still want it.',
  },
  bad_answer: {
    message: 'The service’s answer could not be understood.',
    advice: 'Try again; if it stays, this service may be of another version.',
  },
  deprecated: {
    message: 'The service has retired this function, and Berth does not know what took its place.',
    advice: 'Update Berth, or use the service’s web console.',
  },
  too_large: {
    message: 'The service’s answer was far larger than such an answer can be, so Berth stopped reading it.',
    advice: 'Try again; in a search, set more filters. If it stays, the service or a proxy is at fault.',
  },
  not_this_service: {
    message: 'What answers at this address is not a GPU rental service of the kind that Berth knows.',
    advice: 'Check the base URL.',
  },
  not_supported: {
    message: 'This service does not have this function.',
    advice: 'Use the service’s web console for it.',
  },
  unauthorized: {
    message: 'The service did not accept the API key: it is wrong, was revoked, or lacks this permission.',
    advice: 'Check the key, or replace it in the account’s settings.',
  },
  forbidden: {
    message: 'The API key is not allowed to do this.',
    advice: 'Use a key that has this permission.',
  },
  tfa_needed: {
    message: 'The service wants a login with two factors for this.',
    advice: 'Log in with two factors on the account’s page.',
  },
  rate_limited: {
    message: 'The service was asked too often in a short time.',
    advice: 'Wait a moment; Berth slows down.',
  },
  redirected: {
    message: 'The service sent the request on to another address, which Berth does not follow with your key.',
    advice: 'Check the base URL; enter the final address itself if you trust it.',
  },
  server_error: {
    message: 'The service failed while working on the request.',
    advice: 'Try again in a minute.',
  },
  refused: {
    message: 'The service refused the request.',
    advice: 'Check what you entered; if it looks right, use the service’s web console to find out more.',
  },
  bad_key: {
    message: 'The API key has characters that no key has, or is empty.',
    advice: 'Copy the key again, without spaces or line breaks in it.',
  },
  bad_url: {
    message: 'The base URL is not a web address that Berth can use.',
    advice: 'Enter it like https://example.com, without anything after a question mark or a hash.',
  },
  insecure_url: {
    message: 'The base URL is not encrypted, so your key could be read on the way.',
    advice: 'Use an address that begins with https://.',
  },
  url_has_credentials: {
    message: 'The base URL has a user name or password in it.',
    advice: 'Leave them out; the API key is entered on its own.',
  },
  unsafe_result: {
    message: 'The service named an address for this that Berth does not fetch from.',
    advice: 'Only https addresses of the public internet are fetched. Use the service’s web console.',
  },
  no_result: {
    message: 'The service accepted the request, but its answer lacks the result.',
    advice: 'Try again in a moment; a busy host can take a minute.',
  },
} satisfies Record<string, Sentence>

/** Codes that the service itself sends in `error` (section 7, both tables). */
const serviceSentences = { ...generalSentences, ...twoFactorSentences }

export type ServiceCode = keyof typeof serviceSentences
export type OwnCode = keyof typeof ownSentences
export type ErrorCode = ServiceCode | OwnCode

/** Whether `code` is one that section 7 lists. */
export function isServiceCode(code: unknown): code is ServiceCode {
  return typeof code === 'string' && Object.hasOwn(serviceSentences, code)
}

/** The text for the user about `code`. */
export function errorSentence(code: ErrorCode): Sentence {
  return isServiceCode(code) ? serviceSentences[code] : ownSentences[code]
}

/** Unspecific codes, for which the service's own words are the reason. */
const vague: ReadonlySet<ErrorCode> = new Set(['refused', 'forbidden', 'not_found'])

/** Advice for codes that the interface does not list and deployments are known to send. */
const unlistedAdvice: Readonly<Record<string, string>> = {
  insufficient_credit: 'Add credit in the service’s web console, then try again.',
  insufficient_balance: 'Add credit in the service’s web console, then try again.',
  missing_billing: 'Add a way to pay in the service’s web console, then try again.',
  invalid_price: 'Give another price, and try again.',
  label_too_long: 'Give it a shorter name.',
  no_ssh_key_for_vm: 'Add an SSH key to the account first, then rent it again.',
  no_such_ask: 'Search again, and pick another offer.',
}

/**
 * The text for the user about a refusal. `said`: the service's own words, cleaned; `named`: its code, which the
 * interface may not list.
 */
export function refusalSentence(code: ErrorCode, said: string, named: unknown): Sentence {
  const { message, advice } = errorSentence(code)
  if (said === '' || !vague.has(code)) return { message, advice }
  const known =
    typeof named === 'string' && Object.hasOwn(unlistedAdvice, named) ? unlistedAdvice[named] : undefined
  return { message: `${message} It says: “${said}”`, advice: known ?? advice }
}
