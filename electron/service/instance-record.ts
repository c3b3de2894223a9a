import * as Type from 'typebox'
import { type Fields, isFields, Moment, numberFromDigits, recordShape, ServiceNumber } from './http/answer.ts'

const port = Type.Object({
  HostIp: Type.Optional(Type.String()),
  HostPort: Type.Union([Type.String(), Type.Number()]),
})

/** Dollars per hour: in total without traffic, for the disk alone, and for a promised reliability, within `dph_total`. */
const hourly = Type.Object({
  totalHour: Type.Optional(Type.Number()),
  diskHour: Type.Optional(Type.Number()),
  slaPremiumPerHour: Type.Optional(Type.Number()),
  /** With what was prepaid. */
  discountedTotalPerHour: Type.Optional(Type.Number()),
})

/** Fields known from deployments; any may be missing. Fields that offers have too have the same units. */
const knownFields = {
  ssh_host: Type.Union([Type.String(), Type.Null()]),
  ssh_port: Type.Union([Type.Integer(), Type.Null()]),
  machine_id: Type.Number(),
  host_id: Type.Number(),
  label: Type.String(),
  /** The present state; the coming one; the one the user wants; a line of progress or failure. */
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
  /** Dollars per hour: while it runs, and now. */
  search: hourly,
  instance: hourly,
  /** Dollars that are prepaid; the discount with them and its most, 0 to 1. */
  credit_balance: Type.Number(),
  credit_discount: Type.Number(),
  credit_discount_max: Type.Number(),
  /** Dollars per GB of traffic. */
  inet_up_cost: Type.Number(),
  inet_down_cost: Type.Number(),
  /** KiB sent and received in total; a recreated container starts at 0. */
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
  /** By container port, such as `22/tcp`; empty for an unpublished one. */
  ports: Type.Record(Type.String(), Type.Array(port)),
  jupyter_token: Type.String(),
  start_date: Moment,
  end_date: Moment,
  /** Mb/s. */
  inet_up: Type.Number(),
  inet_down: Type.Number(),
  geolocation: Type.String(),
  /** 0 to 1. */
  reliability2: Type.Number(),
  /** `verified`, `unverified` or `deverified`. */
  verification: Type.String(),
}

/**
 * Section 2.1. `actual_status` is null or missing while an instance is being provisioned, and may be a word that
 * section 3.1 does not list. Every decision needs it, so a record in which it has another type is unreadable.
 */
const promisedFields = {
  actual_status: Type.Optional(Type.Union([Type.String(), Type.Null()])),
}

export const instanceShape = recordShape({ id: ServiceNumber, ...promisedFields }, knownFields, tidyInstance)
/** The answer for one instance may lack the requested id. */
export const oneInstanceShape = recordShape(
  { id: Type.Optional(ServiceNumber), ...promisedFields },
  knownFields,
  tidyInstance,
)

/** An instance as the service sends it; fields that are not listed here are kept. */
export type Instance = NonNullable<typeof instanceShape.record>

function tidyInstance(record: Fields): void {
  const { extra_env, ports, ssh_host, ssh_port, disk_usage, gpu_util, gpu_temp } = record
  const { actual_status, intended_status, cur_state } = record
  // A number in place of a word is shown unchanged, if the rest of the record is valid.
  if (typeof actual_status === 'number' && typeof (intended_status ?? cur_state) === 'string')
    record['actual_status'] = String(actual_status)
  numberFromDigits(record, 'id')
  priceTrafficPerGb(record)
  // Most records are valid, and in a large list writing costs more than checking.
  if (extra_env !== undefined && !arePairs(extra_env)) record['extra_env'] = environmentPairs(extra_env)
  if (ports !== undefined && !arePlaces(ports)) record['ports'] = portPlaces(ports)
  if (typeof ssh_host === 'string') record['ssh_host'] = ssh_host.trim() || undefined
  // -1 means none.
  if (Number(ssh_port) <= 0) record['ssh_port'] = undefined
  if (Number(disk_usage) < 0) record['disk_usage'] = undefined
  // 0 °C means that the host did not report. Taken for idle, the instance could be stopped or destroyed.
  if (gpu_util === 0 && gpu_temp === 0) {
    record['gpu_util'] = undefined
    record['gpu_temp'] = undefined
  }
}

/** Some deployments send the price of traffic per TB. */
export function priceTrafficPerGb(record: Fields): void {
  for (const way of ['up', 'down']) {
    const perTb = record[`internet_${way}_cost_per_tb`]
    if (typeof perTb === 'number') record[`inet_${way}_cost`] ??= perTb / 1024
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

/** Converts `{"A": "b"}` and `["A=b"]` to `[["A", "b"]]`; undefined for any other form. */
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

/** `{"22/tcp": [{"HostPort": "20000"}]}` without invalid entries; undefined for a list of port numbers. */
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
