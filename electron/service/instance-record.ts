import * as Type from 'typebox'
import { type Fields, isFields, recordShape } from './http/answer.ts'

const port = Type.Object({
  HostIp: Type.Optional(Type.String()),
  HostPort: Type.Union([Type.String(), Type.Number()]),
})

/** Dollars per hour, everything but traffic included, and for the disk alone. */
const hourly = Type.Object({
  totalHour: Type.Optional(Type.Number()),
  diskHour: Type.Optional(Type.Number()),
})

/** Fields that deployments are known to send; any may be missing. Those of offers have the same units there. */
const knownFields = {
  ssh_host: Type.Union([Type.String(), Type.Null()]),
  ssh_port: Type.Union([Type.Integer(), Type.Null()]),
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
  /** Dollars per GB and month, and per hour for the whole disk. */
  storage_cost: Type.Number(),
  storage_total_cost: Type.Number(),
  /** Dollars per hour: what it costs when it runs, and what it costs now. */
  search: hourly,
  instance: hourly,
  /** Dollars per GB of traffic; some deployments tell it per TB. */
  inet_up_cost: Type.Number(),
  inet_down_cost: Type.Number(),
  internet_up_cost_per_tb: Type.Number(),
  internet_down_cost_per_tb: Type.Number(),
  /** KiB that it has sent and received, counted on until it is made anew. */
  inet_up_billed: Type.Number(),
  inet_down_billed: Type.Number(),
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
  /** By container port, such as `22/tcp`; empty for one that is not published. */
  ports: Type.Record(Type.String(), Type.Array(port)),
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
  /** `verified`, `unverified` or `deverified`. */
  verification: Type.String(),
}

// interface 2.1: `actual_status` may be null; `ssh_host` and `ssh_port` come with the machine
/**
 * Section 2.1. `actual_status` is null or missing while an instance is being provisioned, and may be a word that
 * section 3.1 does not list; without it nothing can be decided, so that a record in which it is something else counts
 * as unread.
 */
const promisedFields = {
  actual_status: Type.Optional(Type.Union([Type.String(), Type.Null()])),
}

export const instanceShape = recordShape({ id: Type.Integer(), ...promisedFields }, knownFields, tidyInstance)
/** Read alone, an instance need not repeat the id that was asked for. */
export const oneInstanceShape = recordShape(
  { id: Type.Optional(Type.Integer()), ...promisedFields },
  knownFields,
  tidyInstance,
)

/** An instance as the service tells it; fields that are not named here are kept. */
export type Instance = NonNullable<typeof instanceShape.record>

function tidyInstance(record: Fields): void {
  const { id, extra_env, ports, ssh_host, ssh_port, disk_usage, gpu_util, gpu_temp } = record
  const { actual_status, intended_status, cur_state } = record
  // A code in place of a word is shown as it is, where the record is sound otherwise.
  if (typeof actual_status === 'number' && typeof (intended_status ?? cur_state) === 'string')
    record['actual_status'] = String(actual_status)
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) record['id'] = Number(id)
  // Most are right, and writing to a record of a large list costs more than reading it.
  if (extra_env !== undefined && !arePairs(extra_env)) record['extra_env'] = environmentPairs(extra_env)
  if (ports !== undefined && !arePlaces(ports)) record['ports'] = portPlaces(ports)
  if (typeof ssh_host === 'string') record['ssh_host'] = ssh_host.trim() || undefined
  // -1 where there is none.
  if (Number(ssh_port) <= 0) record['ssh_port'] = undefined
  if (Number(disk_usage) < 0) record['disk_usage'] = undefined
  // A card that is 0 °C is one whose host did not report: taken for idle, it could cost the instance.
  if (gpu_util === 0 && gpu_temp === 0) {
    record['gpu_util'] = undefined
    record['gpu_temp'] = undefined
  }
}

function arePairs(env: unknown): boolean {
  return (
    Array.isArray(env) &&
    env.every(
      (entry: unknown) =>
        Array.isArray(entry) &&
        entry.length === 2 &&
        typeof entry[0] === 'string' &&
        typeof entry[1] === 'string',
    )
  )
}

function arePlaces(ports: unknown): boolean {
  if (!isFields(ports)) return false
  for (const container in ports) {
    const places = ports[container]
    if (!Array.isArray(places) || !places.every(isPlace)) return false
  }
  return true
}

function isPlace(place: unknown): boolean {
  if (!isFields(place)) return false
  const { HostIp, HostPort } = place
  const isPort = typeof HostPort === 'string' || typeof HostPort === 'number'
  return isPort && (HostIp === undefined || typeof HostIp === 'string')
}

/** `[["A", "b"]]`, `{"A": "b"}` and `["A=b"]` as the first; undefined where it is none of them. */
function environmentPairs(env: unknown): [string, string][] | undefined {
  if (isFields(env)) return Object.entries(env).flatMap(([name, value]) => pair(name, value))
  if (!Array.isArray(env)) return undefined
  return env.flatMap((entry: unknown) => {
    if (Array.isArray(entry)) return pair(entry[0], entry[1])
    if (typeof entry !== 'string') return []
    const equals = entry.indexOf('=')
    return equals < 0 ? pair(entry, '') : pair(entry.slice(0, equals), entry.slice(equals + 1))
  })
}

function pair(name: unknown, value: unknown): [string, string][] {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
  return typeof name === 'string' && isPlain ? [[name, String(value)]] : []
}

/** `{"22/tcp": [{"HostPort": "20000"}]}` without what has no place; a list of numbers tells no places. */
function portPlaces(
  ports: unknown,
): Record<string, { HostIp?: string; HostPort: string | number }[]> | undefined {
  if (!isFields(ports)) return undefined
  return Object.fromEntries(
    Object.entries(ports).map(([container, places]) => [
      container,
      (Array.isArray(places) ? places : []).flatMap((place: unknown) => {
        if (!isFields(place)) return []
        const { HostIp, HostPort } = place
        if (typeof HostPort !== 'string' && typeof HostPort !== 'number') return []
        return [{ HostIp: typeof HostIp === 'string' ? HostIp : undefined, HostPort }]
      }),
    ]),
  )
}
