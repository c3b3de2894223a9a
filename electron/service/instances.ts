import Type from 'typebox'
import { listed, recordShape, wrapped } from './http/answer.ts'
import { type Confirmation, confirmation } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'
import { ServiceError } from './service-error.ts'

const port = Type.Object({
  HostIp: Type.Optional(Type.String()),
  HostPort: Type.Union([Type.String(), Type.Number()]),
})

/** Fields that deployments are known to send; any may be missing. Those of offers have the same units there. */
const knownFields = {
  machine_id: Type.Number(),
  host_id: Type.Number(),
  label: Type.String(),
  /** What the market has it in; what is coming; what the user asked for; a line of progress or failure. */
  cur_state: Type.String(),
  next_state: Type.String(),
  intended_status: Type.String(),
  status_msg: Type.String(),
  is_bid: Type.Boolean(),
  /** Dollars per hour. */
  min_bid: Type.Number(),
  dph_base: Type.Number(),
  dph_total: Type.Number(),
  /** Dollars per GB and month. */
  storage_cost: Type.Number(),
  gpu_name: Type.String(),
  num_gpus: Type.Number(),
  /** MB per GPU. */
  gpu_ram: Type.Number(),
  /** Percent. */
  gpu_util: Type.Number(),
  /** °C. */
  gpu_temp: Type.Number(),
  /** Percent. */
  cpu_util: Type.Number(),
  /** GB. */
  mem_usage: Type.Number(),
  mem_limit: Type.Number(),
  disk_space: Type.Number(),
  disk_usage: Type.Number(),
  image_uuid: Type.String(),
  image_runtype: Type.String(),
  template_hash_id: Type.String(),
  template_name: Type.String(),
  onstart: Type.String(),
  /** `[name, value]` pairs. */
  extra_env: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  public_ipaddr: Type.String(),
  /** By container port, such as `22/tcp`; null for one that is not published. */
  ports: Type.Record(Type.String(), Type.Union([Type.Array(port), Type.Null()])),
  jupyter_token: Type.String(),
  /** Epoch seconds. */
  start_date: Type.Number(),
  end_date: Type.Number(),
  /** Mb/s. */
  inet_up: Type.Number(),
  inet_down: Type.Number(),
  geolocation: Type.String(),
  /** 0 to 1. */
  reliability2: Type.Number(),
}

/**
 * Section 2.1. `ssh_host` and `ssh_port` may be null or missing while an instance is being provisioned;
 * `actual_status` is null then, and may be a word that section 3.1 does not list.
 */
const promisedFields = {
  actual_status: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  ssh_host: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  ssh_port: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
}

const instanceShape = recordShape({ id: Type.Integer(), ...promisedFields }, knownFields)
/** Read alone, an instance need not repeat the id that was asked for. */
const oneShape = recordShape({ id: Type.Optional(Type.Integer()), ...promisedFields }, knownFields)

/** An instance as the service tells it; fields that are not named here are kept. */
export type Instance = NonNullable<typeof instanceShape.record>

const list: Operation<{ instances: Instance[] }> = {
  method: 'GET',
  path: '/api/v0/instances/',
  repeat: 'read',
  answer: listed('instances', instanceShape),
}

const one: Operation<{ instances: NonNullable<typeof oneShape.record> }> = {
  method: 'GET',
  path: '/api/v0/instances/{id}/',
  repeat: 'read',
  answer: wrapped('instances', oneShape),
}

const change: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/instances/{id}/',
  repeat: 'harmless',
  answer: confirmation,
}

const destroy: Operation<Confirmation> = { ...change, method: 'DELETE' }

const reboot: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/instances/reboot/{id}/',
  repeat: 'never',
  answer: confirmation,
  extra: 'item',
}

const attachKey: Operation<Confirmation> = {
  method: 'POST',
  path: '/api/v0/instances/{id}/ssh/',
  repeat: 'harmless',
  answer: confirmation,
}

const changeBid: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/instances/bid_price/{id}/',
  repeat: 'harmless',
  answer: confirmation,
}

/** What can be done with instances (section 4.2). Every method throws ServiceError. */
export interface Instances {
  /** All instances of the account. */
  list(options?: CallOptions): Promise<Instance[]>
  /** One instance. `not_found` or `no_such_instance` when it is gone. */
  one(id: number, options?: CallOptions): Promise<Instance>
  /** Halts it: GPU charges end, disk charges go on. */
  stop(id: number, options?: CallOptions): Promise<void>
  /** Starts a stopped one again (not in the interface, known from deployments). */
  start(id: number, options?: CallOptions): Promise<void>
  /** Gives it another label (known from deployments). */
  rename(id: number, label: string, options?: CallOptions): Promise<void>
  /** Removes it and all its data; every charge ends. Gone already after a lost answer counts as done. */
  destroy(id: number, options?: CallOptions): Promise<void>
  /** Restarts its container (known from deployments; `not_supported` elsewhere). Never repeated by itself. */
  reboot(id: number, options?: CallOptions): Promise<void>
  /** Lets the owner of `publicKey` (one line of OpenSSH's format) in. Gives the service's own words. */
  attachSshKey(id: number, publicKey: string, options?: CallOptions): Promise<Confirmation>
  /** Changes the bid, dollars per hour, 0.001 to 32. `invalid_args` or `no_such_instance`; 5.5 a second. */
  changeBid(id: number, price: number, options?: CallOptions): Promise<void>
}

export function instances(send: Send): Instances {
  return {
    list: async options => (await send(list, {}, options)).instances,
    one: async (id, options) => {
      const { instances: instance } = await send(one, { ids: { id } }, options)
      return Object.assign(instance, { id: instance.id ?? id })
    },
    stop: async (id, options) => {
      await send(change, { ids: { id }, body: { state: 'stopped' } }, options)
    },
    start: async (id, options) => {
      await send(change, { ids: { id }, body: { state: 'running' } }, options)
    },
    rename: async (id, label, options) => {
      await send(change, { ids: { id }, body: { label } }, options)
    },
    destroy: async (id, options) => {
      try {
        await send(destroy, { ids: { id } }, options)
      } catch (error) {
        if (!(error instanceof ServiceError && error.status === 404 && error.ambiguous)) throw error
      }
    },
    reboot: async (id, options) => {
      await send(reboot, { ids: { id } }, options)
    },
    attachSshKey: (id, publicKey, options) =>
      send(attachKey, { ids: { id }, body: { ssh_key: publicKey } }, options),
    changeBid: async (id, price, options) => {
      await send(changeBid, { ids: { id }, body: { client_id: 'me', price } }, options)
    },
  }
}
