export interface Sentence {
  message: string
  advice: string
}

/** Section 7, two-factor table: the text for the user about each code. */
const twoFactorSentences = {
  bad_request: {
    message: 'The service could not read the request: a field is missing or has the wrong form.',
    advice: 'Check what you entered and try again.',
  },
  auth_error: {
    message: 'The service did not accept the key or the login.',
    advice: 'Check the API key of this account, or log in again.',
  },
  invalid_tfa_method: {
    message: 'The service does not know this kind of two-factor method.',
    advice: 'Choose text message, authenticator app or email.',
  },
  missing_auth_value: {
    message: 'Neither a code nor a backup code was given.',
    advice: 'Enter the six-digit code, or one of your backup codes.',
  },
  missing_params: {
    message: 'The code, or the login it belongs to, is missing.',
    advice: 'Ask for a new code and enter it.',
  },
  email_not_verified: {
    message: 'The email address of this account is not verified, so the service sends no codes.',
    advice: 'Verify the address in the web console, then ask for a code again.',
  },
  '2fa_expired': {
    message: 'The code is older than ten minutes and no longer valid.',
    advice: 'Ask for a new code.',
  },
  challenge_not_found: {
    message: 'The service doesn’t know the login that this code belongs to.',
    advice: 'Ask for a new code and use that one.',
  },
  no_challenge_found: {
    message: 'No code is waiting to be entered.',
    advice: 'Ask for a code first.',
  },
  tfa_challenge_exists: {
    message: 'A code was sent to this phone a short while ago and is still valid.',
    advice: 'Enter that code, or have it sent again with Resend.',
  },
  authorization_required: {
    message: 'Adding a method must be authorized first, or the 30 minutes for it are over.',
    advice: 'Authorize adding a method again, then add it within 30 minutes.',
  },
  no_pending_authorization: {
    message: 'There is no authorization waiting for this code.',
    advice: 'Start the authorization again and enter the new code.',
  },
  invalid_backup_code: {
    message: 'This backup code is wrong or has been used before.',
    advice: 'Use another backup code; each works once.',
  },
  untracked_2fa_found: {
    message: 'This account uses an old form of two-factor authentication that cannot be changed this way.',
    advice: 'Replace the backup codes once, which brings the account up to date, or use the web console.',
  },
  duplicate_tfa_method: {
    message: 'This account already has a method of this kind.',
    advice: 'Remove the existing one first, or keep using it.',
  },
  twilio_error: {
    message: 'The text message could not be delivered.',
    advice: 'Check the phone number with its country code, or use another method.',
  },
  preauth_phone_cap: {
    message: 'This phone number was used in too many authorization attempts.',
    advice: 'Wait a while, or use another method.',
  },
  sms_rate_limited: {
    message: 'Too many text messages with codes were asked for.',
    advice: 'Wait a while before asking again, or use another method.',
  },
  tfa_locked: {
    message: 'This method is locked for 15 minutes after too many wrong codes.',
    advice: 'Wait until the lock ends, or use another method or a backup code.',
  },
  service_unavailable: {
    message: 'The service cannot check authorizations at the moment.',
    advice: 'Try again in a minute.',
  },
  phone_number_mismatch: {
    message: 'This phone number is not the one the code was sent to.',
    advice: 'Use the number you asked the code for, or ask for a new code.',
  },
  '2fa_login_failed': {
    message: 'The login was not verified: the code is wrong or no longer valid.',
    advice: 'Check the code and enter it again, or ask for a new one.',
  },
  '2fa_verification_failed': {
    message: 'The code was not accepted.',
    advice: 'Check the code and enter it again; too many wrong ones lock the method for 15 minutes.',
  },
  team_user_forbidden: {
    message: 'Two-factor settings cannot be changed from within a team.',
    advice: 'Use a key of your personal account.',
  },
  missing_email: {
    message: 'This account has no email address.',
    advice: 'Add one in the web console first.',
  },
  missing_phone_number: {
    message: 'No phone number was given, and the account has none.',
    advice: 'Enter a phone number with its country code, such as +15551234567.',
  },
  tfa_method_not_configured: {
    message: 'The authenticator app is not set up for this account, or its secret was lost.',
    advice: 'Set the authenticator app up again, or use another method.',
  },
  challenge_creation_failed: {
    message: 'The service could not create a code.',
    advice: 'Try again.',
  },
  sms_blocked_number: {
    message: 'The service sends no text messages to this number, because numbers like it are often misused.',
    advice: 'Use another number, or an authenticator app.',
  },
  sms_fraud_detected: {
    message: 'Text messages are switched off for this account after suspected misuse.',
    advice: 'Use an authenticator app or email, and ask the service’s support to clear the account.',
  },
} satisfies Record<string, Sentence>

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
  /** Its message names the proxy. */
  proxy_failed: {
    message: 'The proxy of this computer doesn’t lead to the service.',
    advice: 'Check the proxy in the system’s settings, or in HTTPS_PROXY and NO_PROXY.',
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
  const unlisted =
    typeof named === 'string' && Object.hasOwn(unlistedAdvice, named) ? unlistedAdvice[named] : undefined
  return { message: `${message} It says: “${detail}”`, advice: unlisted ?? advice }
}
