import type { Fields } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import type { Launch } from '#simulator/world/instances/instance.ts'
import type { Offer } from '#simulator/world/market/offers.ts'
import type { Volume } from '#simulator/world/volumes.ts'
import type { World } from '#simulator/world/world.ts'
import { type Row, readLooseFilters } from '../filters.ts'
import { machineFields } from './machine-fields.ts'

const common = { withoutKey: 'detail' } as const

/** Volumes: disk space on one machine, rented separately and mounted when an instance is created there. */
export const publicVolumeRoutes: Layer = {
  'POST /volumes/search/': { ...common, permission: 'misc', answer: search },
  'GET /volumes/': { ...common, permission: 'instance_read', answer: list },
  'PUT /volumes/': { ...common, permission: 'instance_write', answer: rent },
  'DELETE /volumes/': { ...common, permission: 'instance_write', answer: remove },
}

/** Results unless the search says how many. */
const RESULTS = 64

const parameters = new Set(['order', 'limit', 'allocated_storage', 'type', 'client_id'])

function search({ world, body }: ApiRequest) {
  const fields = body()
  const storage = fields.optionalNumber('allocated_storage') ?? 1
  const rows = world.volumes.machines().map(offer => offerRow(world, offer, storage))
  const wanted = Object.entries(fields.values).filter(([name]) => !parameters.has(name))
  const test = readLooseFilters(Object.fromEntries(wanted), field => field in (rows[0] ?? {}))
  const found = rows.filter(test).sort((left, right) => Number(left['id']) - Number(right['id']))
  return { offers: found.slice(0, fields.optionalInteger('limit') ?? RESULTS) }
}

/** All volumes are local ones. */
function list({ world, query }: ApiRequest) {
  const volumes = query.get('type') === 'network_volume' ? [] : world.volumes.list()
  return { success: true, volumes: volumes.map(volume => volumeRow(world, volume)) }
}

function offerRow(world: World, offer: Offer, storage: number): Row {
  const machine = machineFields(offer)
  return {
    ...machine,
    id: world.volumes.askId(offer),
    ask_contract_id: world.volumes.askId(offer),
    disk_space: world.volumes.room(offer),
    driver_vers: String(machine['driver_vers']),
    vericode: String(machine['vericode']),
    reliability_mult: offer.facts.reliability,
    geolocode: '42424242',
    external: false,
    start_date: epochSeconds(world.clock.now()),
    end_date: epochSeconds(world.clock.now()) + offer.facts.duration,
    storage_total_cost: world.volumes.hourly(offer, storage),
  }
}

function volumeRow(world: World, volume: Volume): Row {
  return {
    ...machineFields(volume.offer),
    id: volume.id,
    label: volume.label === '' ? null : volume.label,
    status: 'created',
    disk_space: volume.size,
    instances: world.volumes.instancesOf(volume),
    start_date: epochSeconds(volume.created),
    storage_total_cost: world.volumes.hourly(volume.offer, volume.size),
  }
}

function rent({ world, body }: ApiRequest) {
  const fields = body()
  const volume = world.volumes.rent(fields.integer('id'), fields.number('size'), readName(fields))
  return { success: true, volume_name: `V.${volume.id}` }
}

/** The id is in the body or in the address. */
function remove({ world, body, query }: ApiRequest) {
  const fields = body()
  const id = fields.has('id') ? fields.integer('id') : fields.with({ id: query.get('id') }).integer('id')
  world.volumes.remove(id)
  return { success: true }
}

function readName(fields: Fields): string {
  const name = fields.optionalString('name') ?? ''
  if (!/^[A-Za-z0-9_]{0,64}$/.test(name)) throw fields.refuse('name takes up to 64 letters, digits and _.')
  return name
}

/** Adds a launch's volume: an existing one must be on the offer's machine, a new one is rented. */
export function mountVolume(world: World, offer: Offer, launch: Launch, body: Fields): Launch {
  const { volume } = launch
  if (!volume) return launch
  if (volume.createNew) {
    const name = body.with(body.object('volume_info')).optionalString('name') ?? ''
    const made = world.volumes.rent(volume.volumeId, volume.size ?? 15, name)
    return { ...launch, volume: { ...volume, volumeId: made.id } }
  }
  const { facts } = world.volumes.get(volume.volumeId).offer
  if (facts.machine_id !== offer.facts.machine_id) throw body.refuse('The volume is on another machine.')
  return launch
}
