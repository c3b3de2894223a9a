import { forbidden } from '../http/access.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { readPublicKey } from './account.ts'
import { instanceRecord } from './instance-record.ts'
import { readBid } from './launch-request.ts'

/** Section 4.2: the instances of the account. */
export const instanceRoutes: Routes = {
  'GET /instances/': {
    permission: 'instance_read',
    answer: ({ world }) => {
      const instances = world.instances.list().map(instance => instanceRecord(world, instance))
      return { success: true, instances_found: instances.length, instances }
    },
  },
  'GET /instances/:id/': {
    permission: 'instance_read',
    answer: ({ world, id }) => ({ instances: instanceRecord(world, world.instances.get(id('id'))) }),
  },
  'PUT /instances/:id/': { permission: 'instance_write', instanceKey: true, answer: change },
  'DELETE /instances/:id/': { permission: 'instance_write', instanceKey: true, answer: destroy },
  'POST /instances/:id/ssh/': { permission: 'instance_write', answer: attachKey },
  'PUT /instances/bid_price/:id/': { permission: 'instance_write', threshold: 5.5, answer: changeBid },
  'PUT /instances/reboot/:id/': { permission: 'instance_write', answer: reboot },
}

/** `state` starts or stops, `label` renames; at least one of them. Throws 400 `invalid_args`. */
export function change(request: ApiRequest) {
  const { world, caller, id } = request
  const instanceId = ownInstance(request, id('id'))
  const body = request.body()
  const state = body.optionalString('state')
  const label = body.optionalString('label')
  if (state === undefined && label === undefined) throw body.refuse('state or label is needed.')
  if (state !== undefined && state !== 'running' && state !== 'stopped') {
    throw body.refuse('state must be running or stopped.')
  }
  if (caller.kind === 'instance' && label !== undefined) {
    throw forbidden('The key of an instance cannot rename it.')
  }
  const instance = world.instances.get(instanceId)
  if (label !== undefined) instance.label = label
  if (state !== undefined) world.instances.setState(instance, state)
  return { success: true }
}

/** Removes an instance and ends its charges. */
function destroy(request: ApiRequest) {
  const { world, id } = request
  world.instances.destroy(world.instances.get(ownInstance(request, id('id'))))
  return { success: true }
}

function attachKey({ world, body, id }: ApiRequest) {
  const instanceId = id('id')
  const key = readPublicKey(body())
  const instance = world.instances.get(instanceId)
  if (instance.sshKeys.includes(key)) return { success: true, msg: 'This key is attached already.' }
  instance.sshKeys.push(key)
  return { success: true, msg: 'The key is attached.' }
}

function changeBid({ world, body, id }: ApiRequest) {
  const instanceId = id('id')
  const fields = body()
  fields.string('client_id')
  const bid = readBid(fields)
  world.instances.setBid(world.instances.get(instanceId), bid)
  return { success: true }
}

function reboot({ world, body, id }: ApiRequest) {
  body()
  world.instances.reboot(world.instances.get(id('id')))
  return { success: true }
}

/** The id, if the caller's key may touch that instance; throws 403 for another instance's key. */
function ownInstance({ caller }: ApiRequest, id: number): number {
  if (caller.kind === 'instance' && caller.instanceId !== id) {
    throw forbidden('The key of an instance cannot touch another one.')
  }
  return id
}
