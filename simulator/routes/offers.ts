import { invalidArgs } from '../errors.ts'
import type { Fields } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import type { Instance, Launch } from '../world/instances/instance.ts'
import { readFilters } from '../world/market/filters.ts'
import { type OfferSearch, offerFields } from '../world/market/market.ts'
import type { OfferType, QuotedOffer } from '../world/market/quote.ts'
import type { World } from '../world/world.ts'
import { readLaunch } from './launch-request.ts'
import { checkOverlay, joinOverlays } from './overlays.ts'

/** Section 4.2: search offers, and rent one. */
export const offerRoutes: Routes = {
  'POST /bundles/': { permission: 'misc', answer: search },
  'PUT /asks/:offer/': { permission: 'instance_write', answer: rent },
}

function search({ world, body }: ApiRequest) {
  return { offers: world.market.search(readSearch(body())) }
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

/**
 * Reads the body of a search. Rented offers are found only by a search that filters on `rentable` or
 * `rented`. Throws 400 `invalid_args`.
 */
export function readSearch(body: Fields): OfferSearch {
  const filters = Object.fromEntries(Object.entries(body.values).filter(([name]) => !parameters.has(name)))
  if (!('rentable' in filters) && !('rented' in filters)) filters['rentable'] = { eq: true }
  const limit = body.optionalInteger('limit') ?? Number.MAX_SAFE_INTEGER
  if (limit < 0) throw invalidArgs('limit must not be negative.')
  const storage = body.optionalNumber('allocated_storage') ?? 0
  if (storage < 0 || storage > mostStorage)
    throw invalidArgs(`allocated_storage must be from 0 to ${mostStorage}.`)
  return {
    conditions: readFilters(filters, offerFields),
    order: readOrder(body),
    type: readType(body.optionalString('type')),
    storage,
    limit,
  }
}

function readType(name: string | undefined): OfferType {
  const type = offerTypes.get(name ?? 'on-demand')
  if (!type) throw invalidArgs('type must be on-demand, bid or reserved.')
  return type
}

/** Without an order the best score comes first. */
function readOrder(body: Fields): OfferSearch['order'] {
  const order = body.has('order') ? body.array('order') : [['score', 'desc']]
  return order.map(pair => {
    if (!Array.isArray(pair) || pair.length !== 2) throw invalidArgs('order takes pairs [field, direction].')
    const [field, direction] = pair as [unknown, unknown]
    if (typeof field !== 'string' || !offerFields.has(field)) {
      throw invalidArgs(`There is no field ${JSON.stringify(field)} to order by.`)
    }
    if (direction !== 'asc' && direction !== 'desc') throw invalidArgs('A direction is asc or desc.')
    return { field: field as keyof QuotedOffer, descending: direction === 'desc' }
  })
}
