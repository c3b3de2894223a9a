import type { ApiRequest, Routes } from '../http/route.ts'
import type { ApiKey } from '../world/account/api-keys.ts'
import { permissions, publicPermissions, readKeyPermissions } from '../world/account/key-permissions.ts'
import { epochSeconds } from '../world/clock.ts'

/** Section 4.1: API keys. Only the answer to a creation holds the secret. */
export const apiKeyRoutes: Routes = {
  'POST /auth/apikeys/': { permission: 'user_write', threshold: 2, answer: create },
  'GET /auth/apikeys/': {
    permission: 'user_read',
    threshold: 1,
    bearerOnly: true,
    answer: ({ world }) => ({
      success: true,
      apikeys: world.apiKeys.list().map(key => listed(key, world.account.id)),
    }),
  },
  'DELETE /auth/apikeys/:key/': {
    permission: 'user_write',
    answer: ({ world, id }) => {
      world.apiKeys.revoke(id('key'))
      return { success: true, msg: 'The key is revoked.' }
    },
  },
}

/** `permissions` is false in the answer where the account has them disabled: the key has full access then. */
function create({ world, caller, profile, body }: ApiRequest) {
  const fields = body()
  const name = fields.string('name').trim()
  if (name === '') throw fields.refuse('name must not be empty.')
  const keyParams = fields.optionalObject('key_params') ?? {}
  const wanted = readKeyPermissions(
    fields.values['permissions'],
    caller,
    profile.deployment === 'public' ? publicPermissions : permissions,
  )
  const given = world.account.state.permissions_disabled ? null : wanted
  const { id, key } = world.apiKeys.create(name, given, keyParams)
  return { success: true, id, key, permissions: given ?? false }
}

function listed(key: ApiKey, userId: number): Record<string, unknown> {
  return {
    id: key.id,
    user_id: userId,
    name: key.name,
    key: `****${key.key.slice(-4)}`,
    rights: key.permissions ? Object.keys(key.permissions.api).join(',') : 'all',
    team_id: 0,
    team_name: '',
    permissions: key.permissions ?? false,
    key_params: key.keyParams,
    created_at: epochSeconds(key.created),
  }
}
