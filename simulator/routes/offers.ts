import { invalidArgs } from '../errors.ts'
import type { Fields } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import type { Instance, Launch } from '../world/instances/instance.ts'
import { catalogue } from '../world/market/offers.ts'
import { type OfferType, quote } from '../world/market/quote.ts'
import type { World } from '../world/world.ts'
import { type FieldType, type Order, type Row, readStrictFilters, sorted } from './filters.ts'
import { readLaunch } from './launch-request.ts'
import { checkOverlay, joinOverlays } from './overlays.ts'

/** Section 4.2: search offers, and rent one. */
export const offerRoutes: Routes = {
  'POST /bundles/': { permission: 'misc', answer: search },
  'PUT /asks/:offer/': { permission: 'instance_write', answer: rent },
}

/**
 * Rented offers are found only by a search that filters on `rentable` or `rented`; ties go by id, so that each search has
 * one result. Throws 400 `invalid_args`.
 */
function search({ world, body }: ApiRequest) {
  const fields = body()
  const filters = Object.fromEntries(Object.entries(fields.values).filter(([name]) => !parameters.has(name)))
  if (!('rentable' in filters) && !('rented' in filters)) filters['rentable'] = { eq: true }
  const limit = fields.optionalInteger('limit')
  if (limit !== undefined && limit < 0) throw invalidArgs('limit must not be negative.')
  const storage = fields.optionalNumber('allocated_storage') ?? 0
  if (storage < 0 || storage > mostStorage)
    throw invalidArgs(`allocated_storage must be from 0 to ${mostStorage}.`)
  const type = offerTypes.get(fields.optionalString('type') ?? 'on-demand')
  if (!type) throw invalidArgs('type must be on-demand, bid or reserved.')
  const test = readStrictFilters(filters, offerFields)
  const order = readOrder(fields)
  const rows: Row[] = world.market.all().map(offer => ({ ...offer.facts, ...quote(offer, type, storage) }))
  return { offers: sorted(rows.filter(test), order).slice(0, limit) }
}

function rent({ world, body, id }: ApiRequest) {
  const offerId = id('offer')
  const launch = readLaunch(body(), world.templates)
  checkOverlay(world, launch, world.market.rentable(offerId))
  const instance = createInstance(world, offerId, launch)
  return { success: true, new_contract: instance.id, instance_api_key: instance.apiKey }
}

/** Rents an offer: the account's SSH keys get in, overlays are joined, and a template counts it. */
export function createInstance(world: World, offerId: number, launch: Launch): Instance {
  const keys = world.account.sshKeys.map(key => key.ssh_key)
  const instance = world.instances.create(offerId, launch, keys)
  joinOverlays(world, instance)
  if (launch.template) world.templates.launched(launch.template.hashId, instance.created)
  return instance
}

/** GB (a petabyte): more than any machine has, and small enough to compute prices. */
const mostStorage = 1_000_000

/** The fields of a search's body that are no filters. */
const parameters = new Set(['order', 'type', 'limit', 'allocated_storage', 'client_id'])

export const offerTypes: ReadonlyMap<string, OfferType> = new Map([
  ['on-demand', 'on-demand'],
  ['ondemand', 'on-demand'],
  ['bid', 'bid'],
  ['interruptible', 'bid'],
  ['reserved', 'reserved'],
])

/** The fields of an offer with their types, for filters and orders. */
export const offerFields: ReadonlyMap<string, FieldType> = new Map(
  catalogue(1, 1).flatMap(offer =>
    Object.entries({ ...offer.facts, ...quote(offer, 'on-demand', 0) }).map(([name, value]) => [
      name,
      name === 'cluster_id' ? 'number or null' : (typeof value as FieldType),
    ]),
  ),
)

/** Without an order the best score comes first. */
function readOrder(body: Fields): Order[] {
  const order = body.has('order') ? body.array('order') : [['score', 'desc']]
  const read = order.map(pair => {
    if (!Array.isArray(pair) || pair.length !== 2) throw invalidArgs('order takes pairs [field, direction].')
    const [field, direction] = pair as [unknown, unknown]
    if (typeof field !== 'string' || !offerFields.has(field)) {
      throw invalidArgs(`There is no field ${JSON.stringify(field)} to order by.`)
    }
    if (direction !== 'asc' && direction !== 'desc') throw invalidArgs('A direction is asc or desc.')
    return { field, descending: direction === 'desc' }
  })
  return [...read, { field: 'id', descending: false }]
}
