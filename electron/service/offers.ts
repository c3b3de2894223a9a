import * as Type from 'typebox'
import { type DialectMemory, learnFromRecords, rentalBody } from './dialect.ts'
import {
  type Fields,
  isFields,
  listAnswer,
  numberFromDigits,
  plainAnswer,
  recordShape,
  ServiceNumber,
  singleAnswer,
} from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'
import { priceTrafficPerGb } from './instance-record.ts'
import type { NewInstance } from './new-instance.ts'

const offerShape = recordShape(
  { id: ServiceNumber },
  {
    machine_id: Type.Number(),
    host_id: Type.Number(),
    /** The host's local network that it is in; most are in none. */
    cluster_id: Type.Number(),
    /** Alike machines together, for which the service recommends a bid. */
    bundle_id: Type.Number(),
    gpu_name: Type.String(),
    num_gpus: Type.Number(),
    /** MB per GPU. */
    gpu_ram: Type.Number(),
    /** Share of the machine's GPUs, 0 to 1. */
    gpu_frac: Type.Number(),
    /** GB/s. */
    gpu_mem_bw: Type.Number(),
    cuda_max_good: Type.Number(),
    driver_version: Type.String(),
    /** × 100. */
    compute_cap: Type.Number(),
    cpu_name: Type.String(),
    cpu_cores_effective: Type.Number(),
    /** MB. */
    cpu_ram: Type.Number(),
    /** GB on offer. */
    disk_space: Type.Number(),
    /** MB/s. */
    disk_bw: Type.Number(),
    disk_name: Type.String(),
    /** The volume offer of its machine, and the most GB of a new volume there. */
    avail_vol_ask_id: Type.Number(),
    avail_vol_size: Type.Number(),
    /** TFLOPS of all its GPUs. */
    total_flops: Type.Number(),
    /** GB/s between two GPUs; 0 without NVLink. */
    bw_nvlink: Type.Number(),
    pci_gen: Type.Number(),
    gpu_lanes: Type.Number(),
    /** GB/s. */
    pcie_bw: Type.Number(),
    /** Dollars per GB and month. */
    storage_cost: Type.Number(),
    /** Mb/s. */
    inet_up: Type.Number(),
    inet_down: Type.Number(),
    /** Dollars per hour for the requested storage. */
    storage_total_cost: Type.Number(),
    /** Dollars per GB of traffic. */
    inet_up_cost: Type.Number(),
    inet_down_cost: Type.Number(),
    /** Dollars per hour: the GPUs alone; with the requested storage; the lowest bid that runs now. */
    dph_base: Type.Number(),
    dph_total: Type.Number(),
    min_bid: Type.Number(),
    dlperf: Type.Number(),
    /** Score per dollar and hour. */
    dlperf_per_dphtotal: Type.Number(),
    /** 0 to 1. */
    reliability2: Type.Number(),
    /** `verified`, `unverified` or `deverified`. */
    verification: Type.String(),
    /** "Region, CC". */
    geolocation: Type.String(),
    static_ip: Type.Boolean(),
    datacenter: Type.Boolean(),
    direct_port_count: Type.Number(),
    /** The offer's duration in seconds. */
    duration: Type.Number(),
    rentable: Type.Boolean(),
    rented: Type.Boolean(),
    is_bid: Type.Boolean(),
    score: Type.Number(),
  },
  tidyOffer,
)

/** What deployments say in other words. */
function tidyOffer(record: Fields): void {
  priceTrafficPerGb(record)
  const { reliability, hosting_type, direct_port_count } = record
  record['reliability2'] ??= reliability
  if (typeof hosting_type === 'number') record['datacenter'] ??= hosting_type === 1
  // -1 means none.
  if (Number(direct_port_count) < 0) record['direct_port_count'] = 0
}

/** An offer as the service sends it (section 2.2); fields that are not listed here are kept. */
export type Offer = NonNullable<typeof offerShape.record>

/** One condition on a field, with the operators of section 4.5. */
export interface Condition<V> {
  eq?: V
  neq?: V
  lt?: V
  lte?: V
  gt?: V
  gte?: V
  in?: readonly V[]
  notin?: readonly V[]
}

/** Conditions by field, all of which must hold. */
export type Filters<Fields> = { [F in keyof Fields]?: Condition<NonNullable<Fields[F]>> }

/** The fields to filter and sort offers by: their own, and whether the host's identity was checked. */
type OfferFields = Offer & { verified: boolean }

/** A search of section 4.2. */
export interface OfferSearch {
  filters?: Filters<OfferFields>
  /** In order of priority. */
  order?: readonly (readonly [keyof OfferFields, 'asc' | 'desc'])[]
  /** `bid` finds interruptible machines. */
  type?: 'on-demand' | 'bid' | 'reserved'
  limit?: number
  /** GB included in `dph_total`. */
  allocatedStorage?: number
}

const creationShape = recordShape(
  {
    /** The instance's id; some deployments write it as text. */
    new_contract: ServiceNumber,
  },
  {
    /** False if it was created stopped, or waits for a GPU. */
    success: Type.Boolean(),
    /** A key that can only start, stop and destroy this instance. A secret. */
    instance_api_key: Type.String(),
  },
  record => numberFromDigits(record, 'new_contract'),
)
export type Creation = NonNullable<typeof creationShape.record>

const search = operation(
  'POST',
  '/api/v0/bundles/',
  'read',
  listAnswer('offers', offerShape, { oneAlone: true }),
  { size: 'search' },
)

const create = operation('PUT', '/api/v0/asks/{id}/', 'never', singleAnswer(creationShape), {
  // Deployments say `success: false` of what they rented and could not start at once.
  tookEffect: body => isFields(body) && Number.isInteger(contractIn(body)),
})

const recommendedBid = operation(
  'PUT',
  '/api/v0/bundles_bid_price/{id}/',
  'read',
  plainAnswer(Type.Number({ minimum: 0, maximum: 1000 })),
  { extra: 'item' },
)

function contractIn(body: Fields): number | undefined {
  const contract = Number(body['new_contract'] ?? 0)
  return contract > 0 ? contract : undefined
}

export type Offers = ReturnType<typeof offers>

/** Finding machines and renting one (section 4.2). Every method throws ServiceError. */
export function offers(send: Send, memory: DialectMemory) {
  return {
    /** The offers that match, in the requested order. */
    search: async ({ filters, allocatedStorage, ...rest }: OfferSearch, options?: CallOptions) => {
      const body = { ...filters, ...rest, allocated_storage: allocatedStorage }
      const { offers: found } = await send(search, { body }, options)
      learnFromRecords(memory, found)
      return found
    },
    /** Dollars per hour for the best machine of a bundle (known from deployments; `not_supported` elsewhere). */
    recommendedBid: (bundle: number, options?: CallOptions) =>
      send(recommendedBid, { ids: { id: bundle }, body: {} }, options),
    /**
     * Rents an offer. Never repeated automatically: after an `ambiguous` error, check the account's instances before
     * trying again. Without an image, the template's is used.
     */
    createInstance: (offer: number, wanted: NewInstance, options?: CallOptions) => {
      const body = { client_id: 'me', ...rentalBody(memory.get(), wanted) }
      return send(create, { ids: { id: offer }, body }, options)
    },
  }
}
