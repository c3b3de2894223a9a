import type { Fields } from '../fields.ts'
import type { ApiRequest, Route } from '../http/route.ts'
import type { Caller } from '../world/api-keys.ts'
import type { Channel } from '../world/two-factor/challenges.ts'
import type { Methods, StoredKind } from '../world/two-factor/methods.ts'
import { twoFactorRefusal } from '../world/two-factor/refusals.ts'
import type { TwoFactor } from '../world/two-factor/two-factor.ts'
import type { Proof } from '../world/two-factor/verification.ts'
import type { World } from '../world/world.ts'

/** A two-factor request whose caller is known and does not come from a team. */
export interface TwoFactorCall {
  world: World
  tfa: TwoFactor
  caller: Caller
  body: Fields
  /** The `tfa_secret` of a caller who is logging in without a key; null for all others. */
  login: string | null
  /** Headers of the answer. */
  headers: Headers
}

type Open = 'bearer' | 'login'

/**
 * A row of section 4.7's table. Wrong types are 400 `bad_request`, callers without a key 403 `auth_error` (rows of
 * the login path take a `tfa_secret` instead), calls from a team 403 `team_user_forbidden`.
 */
export function twoFactorRoute(
  method: Route['method'],
  path: string,
  open: Open,
  answer: (call: TwoFactorCall) => Record<string, unknown>,
): Route {
  return {
    method,
    path,
    permission: method === 'GET' ? 'user_read' : 'user_write',
    authCode: 'auth_error',
    ...(open === 'login' ? { anonymous: true } : {}),
    answer: request => {
      const { world, caller, headers } = request
      const body = request.body('bad_request')
      const login = caller.kind === 'anonymous' ? readLogin(request, body) : null
      if (world.account.state.team) {
        throw twoFactorRefusal('team_user_forbidden', 'Two-factor authentication is not for team contexts.')
      }
      return answer({ world, tfa: world.twoFactor, caller, body, login, headers })
    },
  }
}

/**
 * The login that a caller without a key is completing: by `tfa_secret`, else by `secret`, which may be the browser
 * login's or that of one of its challenges. Throws 403 `auth_error` when it is neither.
 */
function readLogin({ world }: ApiRequest, body: Fields): string {
  const { sessions, challenges } = world.twoFactor
  const secret = body.optionalString('secret')
  const named = body.optionalString('tfa_secret') ?? secret
  const challenge = challenges.unanswered().find(known => known.secret === named)
  const login = challenge?.login ?? named
  if (login !== undefined && sessions.awaits(login)) return login
  throw twoFactorRefusal('auth_error', 'This request needs an API key as a bearer token, or a tfa_secret.')
}

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
