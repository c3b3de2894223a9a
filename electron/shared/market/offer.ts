import * as v from 'valibot'
import type { Micros } from '../spending/money.ts'

const scalar = v.union([v.pipe(v.string(), v.maxLength(200)), v.pipe(v.number(), v.finite()), v.boolean()])

/** Conditions on an offer's fields in the service's form, `{field: {operator: value}}` (section 4.5's operators). */
export const ExtraFilters = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/i, 'a field is written like cuda_max_good')),
    v.record(
      v.picklist(['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'notin']),
      v.union([scalar, v.null(), v.pipe(v.array(scalar), v.maxLength(100, 'at most 100 values'))]),
    ),
  ),
  v.check(filters => Object.keys(filters).length <= 50, 'at most 50 fields'),
  v.check(
    filters =>
      !['type', 'order', 'limit', 'allocated_storage', 'client_id'].some(name =>
        Object.hasOwn(filters, name),
      ),
    'options of a search aren’t filters',
  ),
)
export type ExtraFilters = v.InferOutput<typeof ExtraFilters>

/** The request to the service; the page filters its answer by everything else. */
export const OfferQuery = v.object({
  type: v.picklist(['on-demand', 'bid']),
  /** Only identity-checked hosts. */
  verifiedOnly: v.boolean(),
  /** GB of storage in the price. */
  storage: v.pipe(
    v.number('enter the disk in GB'),
    v.gtValue(0, 'more than 0 GB'),
    v.maxValue(100_000, 'at most 100,000 GB'),
  ),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20_000)),
  /** Conditions for which the page has no filter. */
  extra: v.optional(ExtraFilters),
})
export type OfferQuery = v.InferOutput<typeof OfferQuery>

const amount = v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)))
const only = v.optional(v.literal(true))

/** The page's filters for offers, also in saved searches. Absent means any. */
export const OfferFilter = v.object({
  gpus: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(100))),
  countFrom: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  countTo: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Dollars per hour. */
  priceTo: amount,
  /** Country codes; a part of the world is all of its countries. */
  regions: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(300))),
  /** GB per GPU. */
  memoryFrom: amount,
  /** GB. */
  ramFrom: amount,
  diskFrom: amount,
  /** 0 to 1. */
  reliabilityFrom: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  /** Mb/s. */
  downFrom: amount,
  upFrom: amount,
  /** A version: 12.4. */
  cudaFrom: amount,
  /** Days that the offer lasts. */
  daysFrom: amount,
  portsFrom: amount,
  staticIp: only,
  datacenter: only,
  text: v.optional(v.pipe(v.string(), v.maxLength(200))),
})
export type OfferFilter = v.InferOutput<typeof OfferFilter>

export const SavedQuery = v.object({ query: OfferQuery, filter: OfferFilter })
export type SavedQuery = v.InferOutput<typeof SavedQuery>

/** One offer. Fields that the service leaves out are absent. */
export interface OfferView {
  id: number
  gpuName?: string
  gpuCount?: number
  /** MB per GPU. */
  gpuMemory?: number
  /** Micro-dollars per hour, with the storage asked for. */
  price?: Micros
  /** Micro-dollars per hour: the lowest bid that runs now, disk not included. */
  minimumBid?: Micros
  /** Micro-dollars per hour for the storage asked for. */
  storagePrice?: Micros
  /** Dollars per GB of disk and month of 720 hours. */
  storageCost?: number
  score?: number
  scorePerDollar?: number
  /** TFLOPS of all GPUs. */
  compute?: number
  /** GB/s of one GPU's memory. */
  gpuBandwidth?: number
  /** GB/s between two GPUs; 0 where they have no NVLink. */
  nvlink?: number
  /** Generation, lanes and GB/s of a GPU's PCIe link. */
  pcie?: { generation?: number; lanes?: number; bandwidth?: number }
  driver?: string
  cpuName?: string
  cpuCores?: number
  /** MB. */
  memory?: number
  /** GB. */
  disk?: number
  diskName?: string
  /** MB/s. */
  diskBandwidth?: number
  /** Mb/s. */
  down?: number
  up?: number
  /** Dollars per GB of traffic. */
  downCost?: number
  upCost?: number
  /** 0 to 1. */
  reliability?: number
  verified?: boolean
  location?: string
  directPorts?: number
  staticIp?: boolean
  datacenter?: boolean
  /** The offer's duration in seconds. */
  lasts?: number
  cuda?: number
  machineId?: number
  hostId?: number
  /** The cluster of machines that share a local network; absent for a machine outside any cluster. */
  clusterId?: number
  /** The service's id of machines like it, for which it recommends a bid. */
  bundleId?: number
  /** The id for a new volume on its machine, and the most GB that it may have. */
  volumeOffer?: number
  volumeRoom?: number
}

export interface OffersAnswer {
  offers: readonly OfferView[]
  /** Epoch milliseconds on this machine at which the service answered. */
  at: number
  /** Whether the service has, or may have, more offers. */
  limited: boolean
  /** The most offers that the service lists at a time, if fewer than requested. */
  cap?: number
}
