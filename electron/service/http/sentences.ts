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
    message: 'The service has nothing with this id.',
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
    message: 'The connection was lost before the service answered.',
    advice: 'Try again.',
  },
  untrusted_certificate: {
    message: 'The service’s certificate isn’t valid, so nothing was sent.',
    advice: 'Check the base URL and this computer’s clock. A proxy may be in between.',
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
    message: 'Berth couldn’t understand the service’s answer.',
    advice: 'Try again. If it keeps happening, the service may run another version.',
  },
  deprecated: {
    message: 'The service has retired this function, and Berth doesn’t know its replacement.',
    advice: 'Update Berth, or use the service’s web console.',
  },
  too_large: {
    message: 'The service’s answer was far too large, so Berth stopped reading it.',
    advice: 'Try again. In a search, add filters. If it keeps happening, the service or a proxy is at fault.',
  },
  not_this_service: {
    message: 'The server at this address isn’t a GPU rental service that Berth supports.',
    advice: 'Check the base URL.',
  },
  not_supported: {
    message: 'The service doesn’t support this.',
    advice: 'Use the service’s web console for it.',
  },
  unauthorized: {
    message: 'The service rejected the API key: it’s wrong, revoked, or lacks this permission.',
    advice: 'Check the key, or replace it in the account’s settings.',
  },
  forbidden: {
    message: 'The API key is not allowed to do this.',
    advice: 'Use a key that has this permission.',
  },
  tfa_needed: {
    message: 'The service requires a two-factor login for this.',
    advice: 'Log in with two factors on the account’s page.',
  },
  rate_limited: {
    message: 'The service got too many requests in a short time.',
    advice: 'Wait a moment. Berth slows down automatically.',
  },
  redirected: {
    message: 'The service redirected to another address, and Berth doesn’t send your key there.',
    advice: 'Check the base URL. If you trust the other address, enter that one.',
  },
  server_error: {
    message: 'The service failed while handling the request.',
    advice: 'Try again in a minute.',
  },
  refused: {
    message: 'The service refused the request.',
    advice: 'Check what you entered. If it looks right, try the service’s web console.',
  },
  bad_key: {
    message: 'The API key is empty or has invalid characters.',
    advice: 'Copy the key again, without spaces or line breaks.',
  },
  bad_url: {
    message: 'The base URL is not a web address that Berth can use.',
    advice: 'Enter it like https://example.com, without ? or #.',
  },
  insecure_url: {
    message: 'The base URL isn’t encrypted, so others could read your key.',
    advice: 'Use an address that begins with https://.',
  },
  url_has_credentials: {
    message: 'The base URL has a user name or password in it.',
    advice: 'Remove them. The API key has its own field.',
  },
  unsafe_result: {
    message: 'The service sent an address that Berth doesn’t fetch from.',
    advice: 'Berth only fetches public https addresses. Use the service’s web console.',
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
  invalid_price: 'Try another price.',
  label_too_long: 'Use a shorter name.',
  no_ssh_key_for_vm: 'Add an SSH key to the account first, then rent it again.',
  no_such_ask: 'Search again, and pick another offer.',
}

/**
 * The text for the user about a refusal. `detail`: the service’s own message, cleaned; `named`: its code, which the
 * interface may not list.
 */
export function refusalSentence(code: ErrorCode, detail: string, named: unknown): Sentence {
  const { message, advice } = errorSentence(code)
  if (detail === '' || !vague.has(code)) return { message, advice }
  const known =
    typeof named === 'string' && Object.hasOwn(unlistedAdvice, named) ? unlistedAdvice[named] : undefined
  return { message: `${message} It says: “${detail}”`, advice: known ?? advice }
}
