import { invalidArgs, noSuchInstance, notFound, refusal, ServiceError } from '#simulator/errors.ts'
import type { ApiRequest, Routes } from '#simulator/http/route.ts'
import { change as plainChange } from '../instances.ts'
import { pageOfInstances } from './instance-list.ts'
import { listedInstance, singleInstance, spoilFirst, visibleInstances } from './instance-record.ts'
import type { Layer } from './layer.ts'

/** The instances of the account, as the public deployment lists and shows them. */
export const publicInstances: Layer = {
  'GET /instances/': retiredList,
  'GET /instances/:id/': single,
  'PUT /instances/:id/': change,
  'DELETE /instances/:id/': async (request, plain) =>
    Object.assign({}, await plain(request), { msg: 'Instance destroyed successfully' }),
}

export const publicInstanceRoutes: Routes = {
  'GET /instances/': { version: 'v1', permission: 'instance_read', answer: pages },
  'PUT /instances/': { permission: 'instance_write', answer: changeMany },
  'DELETE /instances/': { permission: 'instance_write', answer: destroyMany },
  'GET /instances/filters/': { permission: 'instance_read', answer: filters },
}

function pages(request: ApiRequest) {
  if (request.profile.v1 === '404') throw notFound('There is nothing at /api/v1/instances/.')
  return pageOfInstances(request)
}

/** Characters. */
const LONGEST_LABEL = 1024

const deprecated = {
  success: false,
  error: 'deprecated_endpoint',
  msg: '/api/v0/instances/ is deprecated. Use /api/v1/instances/ instead.',
}

/** The interface's list, or one of its refusals as it is retired. */
function retiredList({ world, profile }: ApiRequest) {
  const rows = visibleInstances(world, profile).map(instance => listedInstance(world, instance, profile))
  switch (profile.list) {
    case 'v0':
      return found(spoilFirst(rows, profile))
    case 'v0-paged':
      return found(spoilFirst(rows.slice(0, profile.page), profile))
    case 'v0-410':
      throw new ServiceError(410, deprecated)
    case 'v0-200-deprecated':
      return deprecated
    case 'v0-success-false':
      return { success: false, msg: 'This list is not available for your account.' }
    case 'v0-empty':
      return found([])
  }
}

function found(instances: unknown[]) {
  return { success: true, instances_found: instances.length, instances }
}

function single({ world, id, profile }: ApiRequest) {
  const wanted = id('id')
  const instance = visibleInstances(world, profile).find(({ id: known }) => known === wanted)
  if (instance) return { instances: singleInstance(world, instance, profile) }
  if (profile.single === '404') throw noSuchInstance(wanted)
  return { instances: null }
}

/** The values that a list can be filtered by. */
function filters({ world, profile }: ApiRequest) {
  const rows = visibleInstances(world, profile).map(instance => listedInstance(world, instance, profile))
  const distinct = (name: string) => [...new Set(rows.map(row => row[name]))]
  return {
    success: true,
    filters: ['actual_status', 'gpu_name', 'verification', 'label'].map(name => ({
      name,
      values: distinct(name),
    })),
  }
}

/** The same change for several instances. */
function changeMany(request: ApiRequest) {
  const ids = request.body().optionalIntegers('ids') ?? []
  for (const id of ids) change({ ...request, id: () => id })
  return { success: true }
}

function destroyMany({ world, body }: ApiRequest) {
  const ids = body().optionalIntegers('instance_ids') ?? []
  for (const instance of ids.map(id => world.instances.get(id))) world.instances.destroy(instance)
  return { success: true }
}

/**
 * A start that must wait for GPUs is queued, and the answer says so; without credit, and after the contract's end, it is
 * refused.
 */
function change(request: ApiRequest) {
  const { world, profile, id } = request
  const body = request.body()
  const instance = world.instances.get(id('id'))
  if ((body.optionalString('label')?.length ?? 0) > LONGEST_LABEL) {
    throw refusal(400, 'label_too_long', `A label has at most ${LONGEST_LABEL} characters.`)
  }
  if (body.values['state'] !== 'running' || instance.status !== 'stopped') return plainChange(request)
  if (world.account.credit() <= 0) throw refusal(400, 'missing_billing', 'There is no credit left.')
  if (instance.ends <= world.clock.now()) throw invalidArgs('The contract of this instance is over.')
  if (profile.start === 'boots') return plainChange(request)
  world.instances.queue(instance)
  const msg = 'Required resources are currently unavailable, state change queued.'
  return { success: false, error: 'resources_unavailable', msg }
}
