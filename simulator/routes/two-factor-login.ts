import type { Route } from '../http/route.ts'
import type { Caller } from '../world/account/key-permissions.ts'
import { sessionCookie } from '../world/two-factor/sessions.ts'
import type { TwoFactor } from '../world/two-factor/two-factor.ts'
import { userObject } from './account.ts'
import { type TwoFactorCall, twoFactorRoute } from './two-factor-call.ts'
import { readProof } from './two-factor-fields.ts'

/** Section 4.7: the login. */
export const loginRoutes: readonly Route[] = [twoFactorRoute('POST', '/tfa/', 'login', logIn)]

/** The user is no administrator, so `admin` changes nothing. */
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
