import * as Type from 'typebox'
import type { Filters } from './filter.ts'
import { listAnswer, plainAnswer, recordShape } from './http/answer.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

const offerShape = recordShape(
  { id: Type.Integer() },
  {
    machine_id: Type.Number(),
    host_id: Type.Number(),
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
    /** TFLOPS of all its GPUs. */
    total_flops: Type.Number(),
    /** GB/s between two GPUs; 0 where they have no NVLink. */
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
    /** Dollars per hour for the storage asked for. */
    storage_total_cost: Type.Number(),
    /** Dollars per GB of traffic; some deployments tell it per TB. */
    inet_up_cost: Type.Number(),
    inet_down_cost: Type.Number(),
    internet_up_cost_per_tb: Type.Number(),
    internet_down_cost_per_tb: Type.Number(),
    /** Dollars per hour: the GPUs alone; with the storage asked for; the lowest bid that runs now. */
    dph_base: Type.Number(),
    dph_total: Type.Number(),
    min_bid: Type.Number(),
    dlperf: Type.Number(),
    /** Score per dollar and hour. */
    dlperf_per_dphtotal: Type.Number(),
    /** 0 to 1. */
    reliability2: Type.Number(),
    reliability: Type.Number(),
    /** `verified`, `unverified` or `deverified`. */
    verification: Type.String(),
    /** "Region, CC". */
    geolocation: Type.String(),
    static_ip: Type.Boolean(),
    /** Some deployments tell it, others `hosting_type` 1. */
    datacenter: Type.Boolean(),
    hosting_type: Type.Number(),
    direct_port_count: Type.Number(),
    /** Seconds the offer lasts. */
    duration: Type.Number(),
    rentable: Type.Boolean(),
    rented: Type.Boolean(),
    is_bid: Type.Boolean(),
    score: Type.Number(),
  },
)

/** An offer as the service tells it (section 2.2); fields that are not named here are kept. */
export type Offer = NonNullable<typeof offerShape.record>

/** What offers can be filtered and sorted by: their own fields, and whether the host's identity was checked. */
type OfferFields = Offer & { verified: boolean }

// interface 8: `limit` on a search
/** A search of section 4.2. */
export interface OfferSearch {
  filters?: Filters<OfferFields>
  /** First pair first. */
  order?: readonly (readonly [keyof OfferFields, 'asc' | 'desc'])[]
  /** `bid` finds interruptible machines. */
  type?: 'on-demand' | 'bid' | 'reserved'
  limit?: number
  /** GB that `dph_total` includes. */
  allocatedStorage?: number
}

// interface 2.4: A volume is linked or created
/** Section 2.4. `volume_id` is a volume's id when linking, a volume offer's id when creating. */
export interface VolumeInfo {
  create_new: boolean
  volume_id: number
  /** GB, when creating. */
  size?: number
  mount_path: string
}

// interface 4.2: Scalars of the request override the template’s
// interface 4.2: `env` is merged, the template’s string converted, the request winning
/**
 * The body of section 4.2's creation. With `template_hash_id`, scalar fields override the template's and `env` is
 * merged, the request winning. `extra_filters` are for finding an offer, which is chosen here already; `template_id` is
 * an error: neither is a field here.
 */
export interface NewInstance {
  /** Docker image with optional tag. */
  image?: string
  /** GB. */
  disk?: number
  onstart?: string
  // interface 4.2: `template_id` in a creation is an error
  template_hash_id?: string
  /** Name to value; port mappings are keys such as `-p 8080:8080` with the value `1`. */
  env?: Record<string, string>
  volume_info?: VolumeInfo
  /** `ssh`, `jupyter`, `args`, or a list of ways such as `ssh_direc ssh_proxy` that deployments know. */
  runtype?: string
  args_str?: string
  ssh_direct?: boolean
  use_ssh?: boolean
  jup_direct?: boolean
  jupyter_dir?: string | null
  use_jupyter_lab?: boolean
  docker_login_repo?: string
  docker_login_user?: string
  docker_login_pass?: string
  /** `-u USER -p TOKEN REGISTRY`, where deployments take that in place of the three above. A secret. */
  image_login?: string
  label?: string
  /** Dollars per hour: makes it interruptible at that bid; without it the instance is on demand. */
  price?: number
  /** Fail rather than create it stopped. */
  cancel_unavail?: boolean
  target_state?: 'running' | 'stopped'
}

// interface 3.1: Created: `null`, with `new_contract` and `instance_api_key`
// interface 2.1: `instance_api_key` is a secret of that instance
const creationShape = Type.Object({
  success: Type.Optional(Type.Boolean()),
  /** The instance's id. */
  new_contract: Type.Integer(),
  // interface 5: The key of an instance starts, stops and destroys that instance alone
  /** Can start, stop and destroy this one instance, nothing else. A secret. */
  instance_api_key: Type.Optional(Type.String()),
})
export type Creation = Type.Static<typeof creationShape>

const search: Operation<{ offers: Offer[] }> = {
  method: 'POST',
  path: '/api/v0/bundles/',
  repeat: 'read',
  answer: listAnswer('offers', offerShape, { oneAlone: true }),
  size: 'search',
}

const create: Operation<Creation> = {
  method: 'PUT',
  path: '/api/v0/asks/{id}/',
  repeat: 'never',
  answer: plainAnswer(creationShape),
}

/** Finding machines and renting one (section 4.2). Every method throws ServiceError. */
export interface Offers {
  /** Offers that match, in the order asked for. */
  search(query: OfferSearch, options?: CallOptions): Promise<Offer[]>
  // interface 2.2: An offer’s `id` is the path parameter of a creation
  /**
   * Rents an offer. Sent once and never repeated: when the error is `ambiguous`, look at the account before trying
   * again. Without an image, a template's is used.
   */
  createInstance(offer: number, body: NewInstance, options?: CallOptions): Promise<Creation>
}

/** `onFound` is told whether what was found has prices by part, which the interface lacks. */
export function offers(send: Send, onFound?: (beyondInterface: boolean) => void): Offers {
  return {
    search: async ({ filters, allocatedStorage, ...rest }, options) => {
      const body = { ...filters, ...rest, allocated_storage: allocatedStorage }
      const { offers: found } = await send(search, { body }, options)
      if (found.length > 0) onFound?.(found.some(offer => offer.storage_total_cost !== undefined))
      return found
    },
    createInstance: (offer, body, options) =>
      send(create, { ids: { id: offer }, body: { client_id: 'me', ...body } }, options),
  }
}
