import { refusal } from '#simulator/errors.ts'
import type { ApiRequest, Routes } from '#simulator/http/route.ts'
import type { ApiKey } from '#simulator/world/account/api-keys.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import type { Layer } from './layer.ts'

/** The user and the keys, as the public deployment shows them. */
export const publicAccount: Layer = {
  'GET /users/current/': user,
  'GET /auth/apikeys/': ({ world }) => ({
    success: true,
    apikeys: world.apiKeys.list().map(key => shown(key, world.account.id)),
  }),
  'DELETE /auth/apikeys/:key/': ({ world, id }) => {
    world.apiKeys.revoke(id('key'))
    return 'Successfully Deleted API Key'
  },
}

export const publicAccountRoutes: Routes = {
  'GET /auth/apikeys/:key/': { permission: 'user_read', answer: oneKey },
  'GET /users/cloud_integrations/': { permission: 'user_read', answer: () => cloudConnections },
}

/** They are made in the web console, which is not simulated. */
const cloudConnections = [
  { id: 101, name: 'S3_1', cloud_type: 's3' },
  { id: 102, name: 'Drive_1', cloud_type: 'drive' },
]

function oneKey({ world, id }: ApiRequest) {
  const wanted = id('key')
  const key = world.apiKeys.list().find(known => known.id === wanted)
  if (!key) throw refusal(404, null, 'API Key not found.')
  return shown(key, world.account.id)
}

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
