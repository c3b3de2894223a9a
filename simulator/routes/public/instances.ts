import { invalidArgs, noSuchInstance, notFound, refusal, ServiceError } from '#simulator/errors.ts'
import { isObject } from '#simulator/fields.ts'
import type { ApiRequest, Layer, Routes } from '#simulator/http/route.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import type { Instance } from '#simulator/world/instances/instance.ts'
import type { World } from '#simulator/world/world.ts'
import {
  compare,
  invalidRequest,
  type Keys,
  keysOf,
  type Order,
  type Row,
  readFilters,
  readOrder,
  selectColumns,
  sorted,
} from '../filters.ts'
import { change as plainChange } from '../instances.ts'
import { listedInstance, singleInstance, spoilFirst, visibleInstances } from './instance-record.ts'

/** The instances of the account, as the public deployment lists and shows them. */
export const publicInstances: Layer = {
  'GET /instances/': retiredList,
  'GET /instances/:id/': single,
  'PUT /instances/:id/': change,
  'DELETE /instances/:id/': async (request, plain) =>
    Object.assign({}, await plain(request), { msg: 'Instance destroyed successfully' }),
  'PUT /instances/': { permission: 'instance_write', answer: changeMany },
  'DELETE /instances/': { permission: 'instance_write', answer: destroyMany },
  'GET /instances/filters/': { permission: 'instance_read', answer: filters },
  'PUT /machines/:machine/report/': {
    permission: 'instance_write',
    answer: ({ world, body, id }) => {
      const fields = body()
      const instance = world.instances.find(fields.integer('instance_id'))
      if (!problems.has(fields.string('problem'))) throw fields.refuse('Problem must be one of those listed.')
      fields.optionalString('message')
      if (instance?.offer.facts.machine_id !== id('machine')) {
        const msg = 'You can only report machines on which you have an active instance'
        throw refusal(403, null, msg)
      }
      return { success: true }
    },
  },
  'POST /machines/maintenances/': {
    permission: 'instance_read',
    answer: ({ world, body }) =>
      world.machines.announced(body().optionalIntegers('machine_ids') ?? []).map(window => ({
        id: window.id,
        machine_id: window.machineId,
        duration_hours: window.hours,
        start_time: epochSeconds(window.start),
        maintenance_category: window.category,
      })),
  },
  'PUT /instances/request_logs/:id/': {
    permission: 'instance_read',
    call: 'api.instance.request_logs',
    answer: requestLog,
  },
}

/** What a machine can be reported for. */
const problems: ReadonlySet<string> = new Set([
  'Unable To Start Instance',
  'Instance Takes Too Long To Load',
  'Instance Has Less Disk Space Than Requested',
  'Machine Has Port Issues',
  'Machine Performance Is Less Than Expected',
  'Other',
])

/** The list in pages. */
export const instancePages: Routes = {
  'GET /instances/': { version: 'v1', permission: 'instance_read', answer: pages },
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

/** The stored fields of an instance: only these can be filtered and ordered by, not computed ones. */
const stored: ReadonlySet<string> = new Set(
  (
    'id label actual_status intended_status cur_state next_state gpu_name verification machine_id host_id ' +
    'start_date end_date image_uuid geolocation'
  ).split(' '),
)

/** Instances on a page for a limit of 0 or less. */
const PAGE_OF_NONSENSE = 5

/** `GET /api/v1/instances/`: a page, with the token of the next. Throws 400 `invalid_request`, `invalid_token`. */
export function pageOfInstances({ world, query, profile }: ApiRequest): Row {
  const matches = readFilters(query, field => stored.has(field))
  const order = readOrder(query.get('order_by'), field => stored.has(field))
  const limit = readLimit(query.get('limit'), profile.page)
  const all = visibleInstances(world, profile).map(instance => listedInstance(world, instance, profile))
  const matching = sorted(all.filter(matches), order)
  const after = readToken(query.get('after_token'), order)
  const rest = after ? matching.filter(row => compare(keysOf(row, order), after, order) > 0) : matching
  const page = (profile.v1 === 'repeats' ? matching : rest).slice(0, limit)
  const last = page.at(-1)
  const more = last !== undefined && (rest.length > limit || profile.v1 === 'repeats')
  return {
    success: true,
    instances_found: page.length,
    total_instances: matching.length,
    label_counts: labelCounts(matching),
    next_token: more ? tokenOf(keysOf(last, order), order) : null,
    instances: spoilFirst(selectColumns(page, query.get('select_cols')), profile),
  }
}

function tokenOf(keys: Keys, order: readonly Order[]): string {
  const values = Object.fromEntries(order.map(({ field }, index) => [field, keys[index]]))
  return Buffer.from(JSON.stringify({ values })).toString('base64')
}

function readToken(token: string | null, order: readonly Order[]): Keys | null {
  if (token === null) return null
  try {
    const read: unknown = JSON.parse(Buffer.from(token, 'base64').toString())
    const values = isObject(read) && isObject(read['values']) ? read['values'] : {}
    return order.map(({ field }) => {
      const value = values[field]
      if (typeof value === 'number' || typeof value === 'string') return value
      throw new SyntaxError(`The token has no ${field}.`)
    })
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(400, 'invalid_token', 'Invalid pagination token')
    throw error
  }
}

function readLimit(text: string | null, most: number): number {
  if (text === null) return most
  const limit = Number(text)
  if (!Number.isInteger(limit)) throw invalidRequest('limit is no integer')
  return limit <= 0 ? Math.min(PAGE_OF_NONSENSE, most) : Math.min(limit, most)
}

function labelCounts(rows: readonly Row[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { label } of rows) {
    const name = typeof label === 'string' ? label : ''
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** Lines unless the request says how many. */
const TAIL = 1000

/** World milliseconds between two lines of a running container. */
const STEP = 30_000

async function requestLog({ world, body, id, profile, results }: ApiRequest) {
  const instance = world.instances.find(id('id'))
  if (!instance) throw refusal(404, 'invalid_id', 'Invalid instance id.')
  const fields = body()
  const filter = fields.optionalString('filter') ?? ''
  const tail = fields.optionalNumber('tail') ?? TAIL
  const lines = fields.has('daemon_logs') ? daemonLog(instance) : containerLog(world, instance)
  const text = lines.filter(line => line.includes(filter)).slice(-tail)
  const name = `/instance_logs/${instance.apiKey.slice(0, 24)}${Math.floor(world.clock.now())}.log`
  const resultUrl = await results.publish(name, text.map(line => `${line}\n`).join(''), profile.logs)
  return { success: true, result_url: resultUrl, msg: 'Log file requested; it is there in a few seconds.' }
}

function daemonLog({ launch, message }: Instance): string[] {
  return [`docker pull ${launch.image}`, `docker create ${launch.image}`, message]
}

/** The coloured output of a training. */
function containerLog(world: World, instance: Instance): string[] {
  const at = (time: number) => new Date(time).toISOString()
  const begun = instance.created
  const lines = [`${at(begun)} \u001b[32mStarting\u001b[0m ${instance.launch.image}`]
  if (instance.launch.onstart !== '') lines.push(`${at(begun)} onstart: ${instance.launch.onstart}`)
  if (instance.status !== 'running') return [...lines, `${at(instance.since)} ${instance.message}`]
  const steps = Math.min(TAIL, Math.floor((world.clock.now() - instance.since) / STEP))
  for (let step = 1; step <= steps; step++) {
    const loss = (2.5 / (1 + step / 20)).toFixed(4)
    lines.push(`${at(instance.since + step * STEP)} step ${step * 100} loss ${loss}`)
  }
  return lines
}
