import type { Routes } from '../http/route.ts'
import { epochSeconds } from '../world/clock.ts'
import type { World } from '../world/world.ts'

/** Section 4.1: the current user. */
export const accountRoutes: Routes = {
  'GET /users/current/': { permission: 'user_read', answer: ({ world }) => userObject(world) },
}

/** The user object, in answers for the current user and for a two-factor login. */
export function userObject({ account, twoFactor }: World): Record<string, unknown> {
  return {
    id: account.id,
    username: account.username,
    email: account.state.email,
    email_verified_at: account.state.email_verified ? epochSeconds(account.created) : null,
    phone_number: account.state.phone_number,
    credit: account.credit(),
    ssh_key: account.sshKeys.at(-1)?.ssh_key ?? '',
    tfa_status: twoFactor.tfaStatus(),
    tfa_enabled: twoFactor.enabled(),
  }
}
