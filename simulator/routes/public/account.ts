import { refusal } from '#simulator/errors.ts'
import { type ApiRequest, JsonText, type Route } from '#simulator/http/route.ts'
import type { ApiKey } from '#simulator/world/account/api-keys.ts'
import { epochSeconds } from '#simulator/world/clock.ts'

/** The user and the keys, as the public deployment shows them. */
export const publicAccountRoutes: readonly Route[] = [
  { method: 'GET', path: '/users/current/', only: 'public', permission: 'user_read', answer: user },
  {
    method: 'GET',
    path: '/auth/apikeys/',
    only: 'public',
    permission: 'user_read',
    bearerOnly: true,
    answer: ({ world }) => ({
      success: true,
      apikeys: world.apiKeys.list().map(key => shown(key, world.account.id)),
    }),
  },
  {
    method: 'GET',
    path: '/auth/apikeys/:key/',
    only: 'public',
    permission: 'user_read',
    answer: ({ world, id }) => {
      const wanted = id('key')
      const key = world.apiKeys.list().find(known => known.id === wanted)
      if (!key) throw refusal(404, null, 'API Key not found.')
      return shown(key, world.account.id)
    },
  },
  {
    method: 'DELETE',
    path: '/auth/apikeys/:key/',
    only: 'public',
    permission: 'user_write',
    answer: ({ world, id }) => {
      world.apiKeys.revoke(id('key'))
      return new JsonText(JSON.stringify('Successfully Deleted API Key'))
    },
  },
]

/** Without two-factor fields; `credit` as the profile says. */
function user({ world, profile }: ApiRequest) {
  const { account } = world
  const credit = account.credit()
  return {
    id: account.id,
    key_id: world.apiKeys.list()[0]?.id ?? 0,
    sid: '',
    username: account.username,
    fullname: '',
    email: account.state.email,
    email_verified: account.state.email_verified,
    ssh_key: account.sshKeys.at(-1)?.ssh_key ?? null,
    phone_number: account.state.phone_number,
    ...(profile.credit === 'missing' ? {} : { credit: profile.credit === 'null' ? null : credit }),
    balance: 0,
    balance_threshold: -0.01,
    balance_threshold_enabled: false,
    autobill_threshold: null,
    autobill_amount: null,
    total_spend: credit - 25,
    can_pay: true,
    has_billing: true,
    has_payout: false,
    host_only: false,
    password_resettable: true,
    got_signup_credit: 1,
    billing_creditonly: 0,
  }
}

/** A key's name and permissions, without its secret. */
function shown(key: ApiKey, userId: number) {
  return {
    id: key.id,
    user_id: userId,
    rights: key.permissions ? 'custom' : 'all',
    team_id: 0,
    team_name: '',
    created_at: epochSeconds(key.created),
  }
}
