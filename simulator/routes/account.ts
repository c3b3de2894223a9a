import type { Fields } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { type ApiKey, permissions, publicPermissions, readKeyPermissions } from '../world/api-keys.ts'
import { epochSeconds } from '../world/clock.ts'
import type { World } from '../world/world.ts'

/** Section 4.1: the user, API keys (only the answer to a creation holds the secret), and SSH keys beyond the interface. */
export const accountRoutes: Routes = {
  'GET /users/current/': { permission: 'user_read', answer: ({ world }) => userObject(world) },
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
      world.apiKeys.remove(id('key'))
      return { success: true, msg: 'The key is revoked.' }
    },
  },
  'GET /ssh/': {
    permission: 'user_read',
    answer: ({ world }) => ({ success: true, ssh_keys: world.account.sshKeys }),
  },
  'POST /ssh/': {
    permission: 'user_write',
    answer: ({ world, body }) => ({ success: true, key: world.account.addSshKey(readPublicKey(body())) }),
  },
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

const keyTypes = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
])

/** Reads `ssh_key`, one line of public key text. Throws 400 when it is not a public key. */
export function readPublicKey(body: Fields): string {
  const text = body.string('ssh_key').trim()
  const [type = '', data = ''] = text.split(/\s+/)
  if (/[\r\n]/.test(text) || !keyTypes.has(type) || innerType(data) !== type) {
    throw body.refuse('ssh_key must be a public key, such as ssh-ed25519 AAAA… comment.')
  }
  return text
}

/** The type in the key's bytes: a length of four bytes, then the text. */
function innerType(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length < 4) return ''
  return bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1')
}
