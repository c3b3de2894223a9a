import type { Route } from '../http/route.ts'
import type { Challenge } from '../world/two-factor/challenges.ts'
import { fitsNow } from '../world/two-factor/codes.ts'
import { type Method, refuseLocked } from '../world/two-factor/methods.ts'
import { twoFactorRefusal } from '../world/two-factor/refusals.ts'
import type { TwoFactor } from '../world/two-factor/two-factor.ts'
import {
  readChannel,
  readCode,
  readLabel,
  readPhoneNumber,
  readStoredKind,
  type TwoFactorCall,
  twoFactorRoute,
} from './two-factor-request.ts'

/** Section 4.7: authorizing a new method, and adding it. */
export const addRoutes: readonly Route[] = [
  twoFactorRoute('POST', '/tfa/authorize-new-method/', 'bearer', startAuthorization),
  twoFactorRoute('PUT', '/tfa/authorize-new-method/', 'bearer', confirmAuthorization),
  twoFactorRoute('POST', '/tfa/confirm-new/', 'bearer', addMethod),
]

function startAuthorization({ tfa, body }: TwoFactorCall) {
  const channel = readChannel(body)
  const methodId = body.optionalInteger('tfa_method_id')
  const backupCode = body.optionalString('backup_code')
  tfa.challenges.refuseUnavailable()
  tfa.messages.requireVerified()
  refuseUntracked(tfa)
  if (backupCode !== undefined) {
    tfa.verification.useBackupCode(backupCode)
    tfa.challenges.openWindow()
    return { success: true, msg: 'A method may be added in the next 30 minutes.' }
  }
  if (channel === 'email' || tfa.methods.list().length === 0) {
    return { success: true, secret: tfa.messages.sendEmail({ purpose: 'authorization', login: null }).secret }
  }
  const method = authorizing(tfa, channel, methodId)
  refuseLocked(method, tfa.clock.now())
  return { success: true, secret: challengeFor(tfa, method).secret }
}

/** The method that authorizes: the one named, the only one of the kind, or without either the primary one. */
function authorizing(tfa: TwoFactor, kind: 'sms' | 'totp' | undefined, id: number | undefined): Method {
  if (kind !== undefined) return tfa.methods.choose(kind, id)
  if (id !== undefined) return tfa.methods.get(id)
  return tfa.methods.list().find(({ isPrimary }) => isPrimary) ?? tfa.methods.choose('sms', undefined)
}

function challengeFor(tfa: TwoFactor, method: Method): Challenge {
  const about = { purpose: 'authorization', login: null, methodId: method.id } as const
  return method.kind === 'sms'
    ? tfa.messages.sendText({ ...about, to: method.phoneNumber })
    : tfa.challenges.create({ ...about, channel: 'totp', to: '' })
}

function confirmAuthorization({ tfa, body }: TwoFactorCall) {
  const code = readCode(body)
  const secret = body.optionalString('secret')
  if (code === undefined || secret === undefined) throw missingParams()
  tfa.challenges.refuseUnavailable()
  if (!tfa.challenges.unanswered().some(({ purpose }) => purpose === 'authorization')) {
    throw twoFactorRefusal('no_pending_authorization', 'No authorization was begun.')
  }
  const challenge = tfa.challenges.open(secret, 'authorization', null)
  const method = challenge.methodId === null ? null : tfa.methods.get(challenge.methodId)
  if (method) refuseLocked(method, tfa.clock.now())
  if (method?.kind === 'totp') {
    tfa.verification.checkAuthenticator(method, code)
    challenge.answered = true
  } else {
    tfa.verification.answer(challenge, code, method)
  }
  tfa.challenges.openWindow()
  return { success: true, msg: 'A method may be added in the next 30 minutes.' }
}

function addMethod({ tfa, body }: TwoFactorCall) {
  const kind = readStoredKind(body)
  const code = readCode(body)
  const secret = body.optionalString('secret')
  const phoneNumber = readPhoneNumber(body)
  const label = readLabel(body) ?? ''
  if (kind === undefined) throw body.refuse('tfa_method is needed.')
  if (code === undefined || secret === undefined) throw missingParams()
  refuseUntracked(tfa)
  tfa.challenges.requireWindow()
  if (kind === 'totp') addAuthenticator(tfa, { secret, code, label })
  else addNumber(tfa, { secret, code, label, phoneNumber })
  const first = tfa.methods.list().length === 1
  return {
    success: true,
    msg: kind === 'totp' ? 'The authenticator was added.' : 'The phone number was added.',
    ...(first ? { backup_codes: tfa.codes.generate() } : {}),
  }
}

interface NewMethod {
  secret: string
  code: string
  label: string
}

function addAuthenticator(tfa: TwoFactor, { secret, code, label }: NewMethod): void {
  tfa.methods.refuseDuplicate('totp')
  if (!tfa.authenticators.issued(secret)) {
    throw twoFactorRefusal('challenge_not_found', 'This secret does not come from totp-setup.')
  }
  if (!fitsNow(secret, code)) throw twoFactorRefusal('2fa_verification_failed', 'The code is wrong.')
  tfa.methods.add({ kind: 'totp', secret, label })
}

function addNumber(
  tfa: TwoFactor,
  { secret, code, label, phoneNumber }: NewMethod & { phoneNumber: string | undefined },
): void {
  const challenge = tfa.challenges.open(secret, 'code', 'sms')
  if (phoneNumber !== undefined && phoneNumber !== challenge.to) {
    throw twoFactorRefusal('phone_number_mismatch', 'The code went to another number.')
  }
  tfa.methods.refuseDuplicate('sms', challenge.to)
  tfa.verification.answer(challenge, code, null)
  tfa.methods.add({ kind: 'sms', phoneNumber: challenge.to, label })
}

/** A legacy account's second factor is no method yet, so no method can be added. */
function refuseUntracked(tfa: TwoFactor): void {
  if (!tfa.account.state.legacy) return
  throw twoFactorRefusal(
    'untracked_2fa_found',
    'This account has two-factor authentication from before methods were kept: make new backup codes first.',
  )
}

function missingParams() {
  return twoFactorRefusal('missing_params', 'code and secret are needed.')
}
