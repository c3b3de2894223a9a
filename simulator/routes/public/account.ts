import { refusal, ServiceError } from '#simulator/errors.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import type { AccountSshKey } from '#simulator/world/account.ts'
import type { ApiKey } from '#simulator/world/api-keys.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import { readPublicKey } from '../account.ts'
import constants from './constants.json' with { type: 'json' }

/** The user and the keys, as the public deployment shows them. */
export const publicAccount: Layer = {
  'GET /users/current/': user,
  'GET /auth/apikeys/': ({ world }) => ({
    success: true,
    apikeys: world.apiKeys.list().map(key => shown(key, world.account.id)),
  }),
  'DELETE /auth/apikeys/:key/': ({ world, id }) => {
    world.apiKeys.remove(id('key'))
    return 'Successfully Deleted API Key'
  },
  'GET /auth/apikeys/:key/': { permission: 'user_read', answer: oneKey },
  'GET /users/cloud_integrations/': { permission: 'user_read', answer: () => cloudConnections },
  'GET /ssh/': list,
  'POST /ssh/': ({ world, body }) => {
    const text = readPublicKey(body())
    for (const { sshKeys } of world.instances.list()) if (!sshKeys.includes(text)) sshKeys.push(text)
    const { key, ...rest } = shownSshKey(world.account.addSshKey(text))
    return { success: true, key: { ...rest, public_key: key } }
  },
  'PUT /ssh/:key/': { permission: 'user_write', answer: change },
  'DELETE /ssh/:key/': { permission: 'user_write', answer: remove },
  'GET /instances/:id/ssh/': { permission: 'instance_read', answer: attached },
  'DELETE /instances/:id/ssh/:key/': { permission: 'instance_write', answer: detach },
}

/** They are made in the web console, which is not simulated. */
const cloudConnections = [
  { id: 101, name: 'S3_1', cloud_type: 's3' },
  { id: 102, name: 'Drive_1', cloud_type: 'drive' },
]

function oneKey({ world, id }: ApiRequest) {
  const key = world.apiKeys.find(id('key'))
  if (!key) throw refusal(404, null, 'API Key not found.')
  return shown(key, world.account.id)
}

/** Without two-factor fields; `credit` as the profile says. */
function user({ world, profile }: ApiRequest) {
  const { account } = world
  const credit = account.credit()
  return {
    ...constants.user,
    id: account.id,
    key_id: world.apiKeys.list()[0]?.id ?? 0,
    username: account.username,
    email: account.state.email,
    email_verified: account.state.email_verified,
    ssh_key: account.sshKeys.at(-1)?.ssh_key ?? null,
    phone_number: account.state.phone_number,
    ...(profile.credit === 'missing' ? {} : { credit: profile.credit === 'null' ? null : credit }),
    total_spend: credit - 25,
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

function remove({ world, id }: ApiRequest) {
  if (!world.account.removeSshKey(id('key'))) throw noSuchKey()
  return { success: true }
}

/** A bare array; without any key also 404, as the profile says. */
function list({ world, profile }: ApiRequest) {
  const keys = world.account.sshKeys.map(shownSshKey)
  if (keys.length === 0 && profile.keyless === '404')
    throw new ServiceError(404, { success: false, msg: 'No ssh keys found' })
  return keys
}

function change({ world, body, id }: ApiRequest) {
  const key = world.account.changeSshKey(id('key'), readPublicKey(body()))
  if (!key) throw noSuchKey()
  return { success: true, key: shownSshKey(key) }
}

/** The keys of an instance, as JSON in a string. */
function attached({ world, id }: ApiRequest) {
  const { sshKeys } = world.instances.get(id('id'))
  const keys = sshKeys.map((text, index) => ({ id: index + 1, name: '', public_key: text }))
  return { success: true, ssh_keys: JSON.stringify(keys) }
}

function detach({ world, id }: ApiRequest) {
  const { sshKeys } = world.instances.get(id('id'))
  const index = id('key') - 1
  if (sshKeys[index] === undefined) throw refusal(404, 'no_such_ssh_key', 'There is no such key here.')
  sshKeys.splice(index, 1)
  return { success: true, msg: 'SSH key removed from instance.' }
}

function shownSshKey({ id, user_id, ssh_key, created_at }: AccountSshKey) {
  return {
    id,
    user_id,
    key: ssh_key,
    created_at: new Date(created_at * 1000).toISOString(),
    deleted_at: null,
  }
}

function noSuchKey(): ServiceError {
  return refusal(400, 'no_ssh_key', 'No ssh key provided')
}
