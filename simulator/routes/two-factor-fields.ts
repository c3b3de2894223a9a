import type { Fields } from '../fields.ts'
import type { Channel } from '../world/two-factor/challenges.ts'
import type { Methods, StoredKind } from '../world/two-factor/methods.ts'
import { twoFactorRefusal } from '../world/two-factor/refusals.ts'
import type { Proof } from '../world/two-factor/verification.ts'

/** Characters of a label (section 8). */
const LABEL = 30

/** Reads `tfa_method`. Throws 400 `invalid_tfa_method` for an unknown one. */
export function readChannel(body: Fields): Channel | undefined {
  const name = body.optionalString('tfa_method')
  if (name === undefined || name === 'sms' || name === 'totp' || name === 'email') return name
  throw twoFactorRefusal('invalid_tfa_method', 'tfa_method must be sms, totp or email.')
}

/** Reads `tfa_method` where it must be one that can be stored. Throws 400 `invalid_tfa_method`. */
export function readStoredKind(body: Fields): StoredKind | undefined {
  const channel = readChannel(body)
  if (channel !== 'email') return channel
  throw twoFactorRefusal('invalid_tfa_method', 'email is never stored as a method.')
}

/** Reads `code`. */
export function readCode(body: Fields): string | undefined {
  const code = body.optionalString('code')
  if (code === undefined || /^\d{6}$/.test(code)) return code
  throw body.refuse('code must be 6 digits.')
}

/** Reads `phone_number`, which must be E.164. */
export function readPhoneNumber(body: Fields): string | undefined {
  const number = body.optionalString('phone_number')
  if (number === undefined || /^\+[1-9]\d{6,14}$/.test(number)) return number
  throw body.refuse('phone_number must be E.164, such as +15550001234.')
}

/** Reads `label`. */
export function readLabel(body: Fields): string | undefined {
  const label = body.optionalString('label')
  if (label === undefined || [...label].length <= LABEL) return label
  throw body.refuse(`label must have at most ${LABEL} characters.`)
}

/** Reads `secret` (or `tfa_secret` on the login path), unless it is the login's own. */
export function readChallengeSecret(body: Fields, login: string | null): string | undefined {
  const onLoginPath = login === null ? undefined : body.optionalString('tfa_secret')
  const secret = body.optionalString('secret') ?? onLoginPath
  return secret === login ? undefined : secret
}

/**
 * Reads a proof of identity. The channel is `tfa_method`; without it that of `tfa_method_id`, else `sms`. Throws 404
 * `not_found` for an unknown id.
 */
export function readProof(body: Fields, methods: Methods, login: string | null): Proof {
  const named = readChannel(body)
  const methodId = body.optionalInteger('tfa_method_id')
  const rest = {
    code: readCode(body),
    secret: readChallengeSecret(body, login),
    methodId,
    backupCode: body.optionalString('backup_code'),
    login,
  }
  if (rest.backupCode !== undefined) return { ...rest, channel: named ?? 'sms' }
  return { ...rest, channel: named ?? (methodId === undefined ? 'sms' : methods.get(methodId).kind) }
}
