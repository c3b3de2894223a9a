import type { Route } from '../http/route.ts'
import type { Challenge } from '../world/two-factor/challenges.ts'
import { twoFactorRefusal } from '../world/two-factor/refusals.ts'
import type { TwoFactor } from '../world/two-factor/two-factor.ts'
import {
  readChallengeSecret,
  readPhoneNumber,
  type TwoFactorCall,
  twoFactorRoute,
} from './two-factor-request.ts'

/** Section 4.7: sending codes, and making an authenticator's secret. */
export const sendRoutes: readonly Route[] = [
  twoFactorRoute('POST', '/tfa/email/', 'login', sendEmail),
  twoFactorRoute('POST', '/tfa/sms/', 'login', sendSms),
  twoFactorRoute('POST', '/tfa/sms/resend/', 'login', resendSms),
  twoFactorRoute('POST', '/tfa/totp-setup/', 'bearer', setUpTotp),
]

/** With the `secret` of an email challenge, sends a new code for that one; else makes a new challenge. */
function sendEmail({ tfa, body, login }: TwoFactorCall) {
  const secret = readChallengeSecret(body, login)
  tfa.messages.requireVerified()
  const known = secret === undefined ? null : tfa.challenges.open(secret, null, 'email')
  if (known) tfa.messages.resendEmail(known)
  const challenge = known ?? tfa.messages.sendEmail({ purpose: 'code', login })
  return { success: true, msg: `A code was sent to ${challenge.to}.`, secret: challenge.secret }
}

function sendSms({ tfa, body, login }: TwoFactorCall) {
  body.optionalString('secret')
  const phoneNumber = readPhoneNumber(body)
  const methodId = body.optionalInteger('tfa_method_id')
  tfa.messages.requireVerified()
  const to = recipient(tfa, { phoneNumber, methodId, login })
  tfa.messages.refuseRecent(to)
  const challenge = tfa.messages.sendText({ to, purpose: 'code', login, methodId: methodId ?? null })
  return { msg: `A code was sent to the number ending in ${to.slice(-4)}.`, secret: challenge.secret }
}

function resendSms({ tfa, body, login }: TwoFactorCall) {
  const secret = readChallengeSecret(body, login)
  const phoneNumber = readPhoneNumber(body)
  const methodId = body.optionalInteger('tfa_method_id')
  tfa.messages.requireVerified()
  const numbers = [phoneNumber, methodId === undefined ? undefined : numberOf(tfa, methodId)]
  const challenge = secret === undefined ? latest(tfa, login) : tfa.challenges.open(secret, null, 'sms')
  if (numbers.some(number => number !== undefined && number !== challenge.to)) {
    throw mismatch('The first code went to another number.')
  }
  tfa.messages.resendText(challenge, secret === undefined)
  return {
    msg: `A new code was sent to the number ending in ${challenge.to.slice(-4)}.`,
    secret: challenge.secret,
  }
}

function setUpTotp({ tfa, world }: TwoFactorCall) {
  const { secret, uri } = tfa.authenticators.setUp(world.account.state.email ?? world.account.username)
  return { success: true, secret, provisioning_uri: uri }
}

/** The latest text message challenge, for a caller who names none. */
function latest(tfa: TwoFactor, login: string | null): Challenge {
  const challenge = tfa.challenges.latest(known => known.channel === 'sms' && known.login === login)
  if (challenge) return challenge
  throw twoFactorRefusal('no_challenge_found', 'There is no text message to send again.')
}

interface Recipient {
  phoneNumber: string | undefined
  methodId: number | undefined
  login: string | null
}

/**
 * The number to send a code to: the method's, the given one, or the account's. During a login only numbers of the
 * account are allowed, if it has any.
 */
function recipient(tfa: TwoFactor, { phoneNumber, methodId, login }: Recipient): string {
  if (methodId !== undefined) {
    const number = numberOf(tfa, methodId)
    if (phoneNumber === undefined || phoneNumber === number) return number
    throw mismatch('This method has another number.')
  }
  if (phoneNumber === undefined) {
    const number = tfa.methods.find('sms', undefined)?.phoneNumber ?? tfa.account.state.phone_number
    if (number !== null) return number
    throw twoFactorRefusal('missing_phone_number', 'phone_number is needed: the account has none.')
  }
  const known = knownNumbers(tfa)
  if (login === null || known.length === 0 || known.includes(phoneNumber)) return phoneNumber
  throw mismatch('This is not a number of the account.')
}

function knownNumbers(tfa: TwoFactor): string[] {
  const numbers = tfa.methods.list().flatMap(method => (method.kind === 'sms' ? [method.phoneNumber] : []))
  const onFile = tfa.account.state.phone_number
  return onFile === null ? numbers : [...numbers, onFile]
}

/** The number of a method. Throws 404 `not_found`, 400 `invalid_tfa_method` for an authenticator. */
function numberOf(tfa: TwoFactor, methodId: number): string {
  const method = tfa.methods.get(methodId)
  if (method.kind === 'sms') return method.phoneNumber
  throw twoFactorRefusal('invalid_tfa_method', 'This method gets no text messages.')
}

function mismatch(msg: string) {
  return twoFactorRefusal('phone_number_mismatch', msg)
}
