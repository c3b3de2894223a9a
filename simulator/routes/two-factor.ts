import type { Route } from '../http/route.ts'
import type { Caller } from '../world/api-keys.ts'
import { twoFactorRefusal } from '../world/two-factor/refusals.ts'
import { sessionCookie } from '../world/two-factor/sessions.ts'
import type { TwoFactor } from '../world/two-factor/two-factor.ts'
import { userObject } from './account.ts'
import { addRoutes } from './two-factor-add.ts'
import {
  readLabel,
  readProof,
  readStoredKind,
  type TwoFactorCall,
  twoFactorRoute,
} from './two-factor-request.ts'
import { sendRoutes } from './two-factor-send.ts'

/** Section 4.7: two-factor authentication. This file has the login and the calls on existing methods. */
export const twoFactorRoutes: readonly Route[] = [
  twoFactorRoute('GET', '/tfa/status/', 'bearer', status),
  twoFactorRoute('POST', '/tfa/', 'login', logIn),
  ...sendRoutes,
  ...addRoutes,
  twoFactorRoute('DELETE', '/tfa/', 'bearer', removeMethod),
  twoFactorRoute('PUT', '/tfa/update/', 'bearer', updateMethod),
  twoFactorRoute('PUT', '/tfa/regen-backup-codes/', 'bearer', regenerateCodes),
]

function status({ tfa }: TwoFactorCall) {
  return {
    success: true,
    tfa_enabled: tfa.enabled(),
    methods: tfa.methods.list().map(method => tfa.record(method)),
    backup_codes_remaining: tfa.backupCodesLeft(),
    new_method_authorized: tfa.challenges.isWindowOpen(),
  }
}

/** Removes the method of the proof, or `target_id`; a legacy account has no methods and is switched off. */
function removeMethod({ tfa, body }: TwoFactorCall) {
  const targetId = body.optionalInteger('target_id')
  const proof = readProof(body, tfa.methods, null)
  const { legacy } = tfa.account.state
  const target = targetId === undefined ? null : tfa.methods.get(targetId)
  const verifiesItself = proof.backupCode === undefined && proof.channel !== 'email'
  if (!target && !verifiesItself && !legacy) throw body.refuse('target_id is needed with this proof.')
  const { method } = tfa.verification.prove(proof)
  const removed = target ?? method
  if (!removed) {
    tfa.endLegacy()
    return { msg: 'Two-factor authentication is off.' }
  }
  const left = tfa.remove(removed)
  return left === 0
    ? { msg: 'The last method was removed. Two-factor authentication is off.' }
    : { msg: 'The method was removed.', remaining_methods: left }
}

function updateMethod({ tfa, body }: TwoFactorCall) {
  const kind = readStoredKind(body)
  const id = body.optionalInteger('tfa_method_id')
  const label = readLabel(body)
  const isPrimary = body.optionalBoolean('is_primary')
  if (label === undefined && isPrimary === undefined) throw body.refuse('label or is_primary is needed.')
  const named = kind ?? (id === undefined ? undefined : tfa.methods.get(id).kind)
  if (named === undefined) throw body.refuse('tfa_method_id or tfa_method is needed.')
  const method = tfa.methods.choose(named, id)
  if (isPrimary === false && method.isPrimary) {
    throw body.refuse('Make another method the primary one instead.')
  }
  if (label !== undefined) method.label = label
  if (isPrimary) tfa.methods.makePrimary(method)
  return { success: true, msg: 'The method was changed.', method: tfa.record(method) }
}

/** A legacy account's number on file becomes a method first (section 4.7), even if the proof then fails. */
function regenerateCodes({ tfa, body }: TwoFactorCall) {
  const { state } = tfa.account
  if (state.legacy) {
    readProof(body, tfa.methods, null)
    if (state.phone_number === null) {
      throw twoFactorRefusal('missing_phone_number', 'There is no phone number on file.')
    }
    tfa.methods.add({ kind: 'sms', phoneNumber: state.phone_number, label: '' })
  }
  tfa.verification.prove(readProof(body, tfa.methods, null))
  if (!tfa.enabled()) {
    throw twoFactorRefusal('tfa_method_not_configured', 'Two-factor authentication is off.')
  }
  return { msg: 'All backup codes were replaced.', backup_codes: tfa.codes.generate() }
}

/** Section 4.7's login. The user is no administrator, so `admin` changes nothing. */
function logIn({ world, tfa, caller, body, login, headers }: TwoFactorCall) {
  body.optionalBoolean('admin')
  const { backup } = tfa.verification.prove(readProof(body, tfa.methods, login), '2fa_login_failed')
  if (login !== null) {
    tfa.sessions.complete(login)
    headers.append(
      'set-cookie',
      `${sessionCookie}=${tfa.sessions.begin(caller)}; Path=/; HttpOnly; SameSite=Strict`,
    )
  }
  const left = tfa.backupCodesLeft()
  return {
    ...userObject(world),
    ...(hasApiKey(tfa, caller) ? { session_key: tfa.sessions.begin(caller) } : {}),
    ...(backup && left > 0 ? { backup_codes_remaining: left } : {}),
    ...(world.account.state.legacy ? { legacy_tfa_user: true } : {}),
  }
}

function hasApiKey({ sessions }: TwoFactor, caller: Caller): boolean {
  return caller.kind !== 'anonymous' && sessions.caller(caller.key) === undefined
}
