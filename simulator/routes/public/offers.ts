import { invalidArgs, refusal } from '#simulator/errors.ts'
import type { Fields } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import type { Offer } from '#simulator/world/market/offers.ts'
import { type OfferType, quote } from '#simulator/world/market/quote.ts'
import { diskRate, dollars } from '#simulator/world/money.ts'
import type { World } from '#simulator/world/world.ts'
import { invalidRequest, type Row, readLooseFilters, sorted } from '../filters.ts'
import { flagsToEnv, readLaunch } from '../launch-request.ts'
import { createInstance, offerTypes } from '../offers.ts'
import { checkOverlay } from '../overlays.ts'
import constants from './constants.json' with { type: 'json' }
import { flopsFor, machineFields } from './machine-fields.ts'
import { longestScript } from './templates.ts'
import { mountVolume } from './volumes.ts'

/** The public deployment's search for offers, and renting one. */
export const publicOffers: Layer = {
  'POST /bundles/': request => search(request, request.body('invalid_request')),
  'PUT /asks/:offer/': rent,
  'PUT /bundles_bid_price/:bundle/': {
    permission: 'misc',
    answer({ world, id }) {
      const offer = world.market.all().find(({ index }) => index + 1 === id('bundle'))
      if (!offer)
        throw refusal(404, 'no_such_ask', `Offer ${id('bundle')} does not exist or is not available.`)
      return dollars(Math.round(offer.minBid * 1.15))
    },
  },
  'PUT /search/asks/': { permission: 'misc', answer: searchAsks },
}

function searchAsks(request: ApiRequest) {
  const body = request.body('invalid_request')
  return search(request, body.with(body.object('q')))
}

/** A bid in dollars per hour, the container's ports, and the characters of its start script. */
const limits = { highestBid: 128, mostPorts: 64, identityPorts: true, longestScript }

/** GB that prices include unless the search says otherwise. */
const STORAGE = 8

const parameters = new Set([
  'order',
  'type',
  'limit',
  'allocated_storage',
  'client_id',
  'disable_bundling',
  'select_cols',
])

/** Aliases of filter fields, among them fields that are compared by another one. */
const aliases: Record<string, string> = {
  cuda_vers: 'cuda_max_good',
  dph: 'dph_total',
  display_active: 'gpu_display_active',
  driver_version: 'driver_vers',
  geolocation: 'country',
  ubuntu_version: 'os_version',
}

/** Gives at most the profile's `cap` offers, whatever `limit` says; only rentable ones, unless asked otherwise. */
function search({ world, profile }: ApiRequest, body: Fields) {
  const type = offerTypes.get(body.optionalString('type') ?? 'on-demand')
  if (!type) throw invalidRequest('type is on-demand, bid or reserved')
  const storage = body.optionalNumber('allocated_storage') ?? STORAGE
  const rows = world.market.all().map(offer => offerRow(world, offer, type, storage))
  const wanted = Object.entries(body.values).filter(([name]) => !parameters.has(name))
  const filters = Object.fromEntries(wanted.map(([name, filter]) => [aliases[name] ?? name, filter]))
  if (!('rentable' in filters)) filters['rentable'] = { eq: true }
  const [sample = {}] = rows
  const test = readLooseFilters(filters, field => field in sample)
  const limit = Math.min(body.optionalInteger('limit') ?? profile.cap, profile.cap)
  return { offers: sort(rows.filter(test), body).slice(0, Math.max(0, limit)).map(withoutCountry) }
}

function offerRow(world: World, offer: Offer, type: OfferType, storage: number): Row {
  const { facts } = offer
  const now = world.clock.now() / 1000
  const quoted = quote(offer, type, storage)
  return Object.assign(machineFields(offer), quoted, constants.offer, {
    flops_per_dphtotal: flopsFor(offer, quoted.dph_total),
    ask_contract_id: facts.id,
    country: facts.geolocation.split(', ').at(-1) ?? '',
    storage_total_cost: dollars(diskRate(facts.storage_cost, storage)),
    internet_up_cost_per_tb: facts.inet_up_cost * 1024,
    internet_down_cost_per_tb: facts.inet_down_cost * 1024,
    start_date: now,
    end_date: now + facts.duration,
    time_remaining: `${Math.floor(facts.duration / 86_400)} D`,
    discounted_dph_total: quoted.dph_total,
    avail_vol_ask_id: world.volumes.askId(offer),
    avail_vol_dph: world.volumes.hourly(offer, 1),
    avail_vol_size: world.volumes.room(offer),
  })
}

function withoutCountry({ country: _country, ...row }: Row): Row {
  return row
}

function sort(rows: Row[], body: Fields): Row[] {
  const order = (body.has('order') ? body.array('order') : [['score', 'desc']]).map(entry => {
    const [field, direction] = Array.isArray(entry) ? entry : []
    if (typeof field !== 'string' || (rows[0] && !(field in rows[0]))) throw invalidRequest('order')
    return { field, descending: direction === 'desc' }
  })
  order.push({ field: 'id', descending: false })
  return sorted(rows, order)
}

/** A rented offer is 410; an unknown one is 404 with its code only in the message. Without credit it is 400. */
function rent({ world, profile, body, id }: ApiRequest) {
  const offerId = id('offer')
  const offer = world.market.all().find(({ facts }) => facts.id === offerId)
  if (!offer) {
    const msg = `error 404/3603: no_such_ask Instance type by id ${offerId} is not available.`
    throw refusal(404, 'invalid_args', msg, { ask_id: offerId })
  }
  if (offer.rented) {
    const msg = `error 410/3907: no_such_ask Instance type by id ${offerId} is no longer available.`
    throw refusal(410, 'no_such_ask', msg, { ask_id: offerId })
  }
  if (world.account.credit() <= 0) throw refusal(400, 'insufficient_credit', 'There is no credit left.')
  const fields = withLogin(withRuntype(body()))
  const launch = mountVolume(world, offer, readLaunch(fields, world.templates, limits), fields)
  checkOverlay(world, launch, offer)
  if (profile.rent === 'refused') return { success: false, msg: 'The request failed.' }
  if (profile.rent === 'stopped') launch.targetState = 'stopped'
  const instance = createInstance(world, offerId, launch)
  if (profile.rent === 'queued') world.instances.queue(instance)
  if (profile.rent === 'unsaid') return { success: false, msg: 'The request failed.' }
  return { success: profile.rent === 'boots', new_contract: instance.id }
}

/** Here a login is one text; the interface has three fields. */
function withLogin(body: Fields): Fields {
  const { docker_login_repo, docker_login_user, docker_login_pass, ...values } = body.values
  const text = body.optionalString('image_login') ?? ''
  if (text === '') return body.with(values)
  const [, user, pass, repo] = /^-u (\S+) -p (\S+) (\S+)$/.exec(text) ?? []
  if (repo === undefined) throw invalidArgs('image_login is -u USER -p TOKEN REGISTRY.')
  const login = { docker_login_repo: repo, docker_login_user: user, docker_login_pass: pass }
  return body.with({ ...values, ...login })
}

/** Without a runtype or a template it is `ssh`, or `args` where arguments are given. `env` may be Docker's flags. */
function withRuntype(body: Fields): Fields {
  const values = { ...body.values }
  if (typeof values['env'] === 'string') values['env'] = flagsToEnv(values['env'])
  const args = body.has('args') || body.has('args_str')
  if (!body.has('template_hash_id') && !body.has('runtype')) values['runtype'] = args ? 'args' : 'ssh'
  return body.with(values)
}
