import type { Fields } from '../fields.ts'
import type { ApiRequest, Route } from '../http/route.ts'
import type { Caller } from '../world/account/key-permissions.ts'
import { twoFactorRefusal } from '../world/two-factor/refusals.ts'
import type { TwoFactor } from '../world/two-factor/two-factor.ts'
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
