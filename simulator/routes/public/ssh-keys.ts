import { refusal, ServiceError } from '#simulator/errors.ts'
import type { ApiRequest, Routes } from '#simulator/http/route.ts'
import type { AccountSshKey } from '#simulator/world/account/account.ts'
import { readPublicKey } from '../public-key.ts'
import type { Layer } from './layer.ts'

/** The account's SSH keys and those of an instance, as the public deployment lists and changes them. */
export const publicSshKeys: Layer = {
  'GET /ssh/': list,
  'POST /ssh/': ({ world, body }) => {
    const text = readPublicKey(body())
    for (const { sshKeys } of world.instances.list()) if (!sshKeys.includes(text)) sshKeys.push(text)
    const { key, ...rest } = shown(world.account.addSshKey(text))
    return { success: true, key: { ...rest, public_key: key } }
  },
}

export const publicSshKeyRoutes: Routes = {
  'PUT /ssh/:key/': { permission: 'user_write', answer: change },
  'DELETE /ssh/:key/': { permission: 'user_write', answer: remove },
  'GET /instances/:id/ssh/': { permission: 'instance_read', answer: attached },
  'DELETE /instances/:id/ssh/:key/': { permission: 'instance_write', answer: detach },
}

function remove({ world, id }: ApiRequest) {
  if (!world.account.removeSshKey(id('key'))) throw noSuchKey()
  return { success: true }
}

/** A bare array, or 404 without any key. */
function list({ world }: ApiRequest) {
  const keys = world.account.sshKeys.map(shown)
  if (keys.length === 0) throw new ServiceError(404, { success: false, msg: 'No ssh keys found' })
  return keys
}

function change({ world, body, id }: ApiRequest) {
  const key = world.account.changeSshKey(id('key'), readPublicKey(body()))
  if (!key) throw noSuchKey()
  return { success: true, key: shown(key) }
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

function shown({ id, user_id, ssh_key, created_at }: AccountSshKey) {
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
