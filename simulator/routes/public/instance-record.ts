import type { Profile } from '#simulator/deployment.ts'
import { wrongTypes } from '#simulator/http/faults.ts'
import { MOST_DISCOUNT } from '#simulator/world/instances/deposits.ts'
import { gpuRate, type Instance, isOutbid, storageRate } from '#simulator/world/instances/instance.ts'
import type { Rates } from '#simulator/world/ledger.ts'
import { quote } from '#simulator/world/market/quote.ts'
import { dollars } from '#simulator/world/money.ts'
import type { World } from '#simulator/world/world.ts'
import { instanceRecord } from '../instance-record.ts'
import constants from './constants.json' with { type: 'json' }
import { flopsFor, machineFields } from './machine-fields.ts'

type Row = Record<string, unknown>

/** The instances visible by now in lists and by id, in the order of their creation. */
export function visibleInstances(world: World, { appears }: Profile): Instance[] {
  const since = world.clock.now() - appears * 1000
  return world.instances.list().filter(({ created }) => created <= since)
}

/** An instance's record in a list of the public deployment. */
export function listedInstance(world: World, instance: Instance, profile: Profile): Row {
  const own = { country_code: null, volume_info: mounted(world, instance) }
  return variant(Object.assign(commonFields(world, instance, profile), own), profile.records)
}

/** The record of a single instance in the public deployment. */
export function singleInstance(world: World, instance: Instance, profile: Profile): Row {
  const own = { hosting_type: 0, logo: '/static/logo.png', bundle_id: instance.offer.index + 1 }
  return variant(Object.assign(commonFields(world, instance, profile), own), profile.records)
}

/** Spoils the first record of a list as the profile says. */
export function spoilFirst(rows: Row[], { records }: Profile): unknown[] {
  const [first, ...rest] = rows
  if (first === undefined) return []
  if (records === 'null-row') return [null, ...rest]
  if (records === 'bad-row') return [Object.assign({}, wrongTypes(first), { id: first['id'] }), ...rest]
  return rows
}

/** The volume that an instance mounts, as the public command line reads it. GB. */
function mounted(world: World, { launch: { volume } }: Instance): Row[] {
  return world.volumes
    .list()
    .filter(({ id }) => id === volume?.volumeId)
    .map(({ id, label, size }) => ({
      id,
      label: label === '' ? null : label,
      mount_path: volume?.mountPath,
      total_space: size,
      avail_space: size,
    }))
}

function commonFields(world: World, instance: Instance, profile: Profile): Row {
  const { offer, launch } = instance
  const plain = instanceRecord(world, instance)
  const running = instance.status === 'running'
  const hours = Math.max(0, instance.ends - world.clock.now()) / 3_600_000
  const traffic = world.instances.traffic(instance)
  const quoted = quote(offer, instance.bid === null ? 'on-demand' : 'bid', launch.disk)
  return Object.assign(
    machineFields(offer),
    plain,
    publicStates(world, instance, profile),
    constants.instance,
    {
      label: instance.label === '' ? null : instance.label,
      onstart: launch.onstart === '' ? null : launch.onstart,
      status_msg: plain['status_msg'] === '' ? null : plain['status_msg'],
      ports: running ? plain['ports'] : null,
      machine_dir_ssh_port: plain['ssh_port'],
      duration: hours * 3600,
      time_remaining: `${Math.floor(hours / 24)} D ${Math.floor(hours % 24)} Hr`,
      time_remaining_isbid: `${Math.floor(hours / 24)} D ${Math.floor(hours % 24)} Hr`,
      cpu_util: plain['cpu_util'] ?? 0,
      disk_util: plain['disk_usage'] ?? -1,
      disk_usage: plain['disk_usage'] ?? -1,
      score: quoted.score,
      dlperf_per_dphtotal: quoted.dlperf_per_dphtotal,
      flops_per_dphtotal: flopsFor(offer, dollars(gpuRate(instance) + storageRate(instance))),
      inet_up_billed: traffic.upload,
      inet_down_billed: traffic.download,
      ...prices(world, instance),
      ...deposit(world, instance),
    },
  )
}

/** Dollars per hour. `search` is the cost while it runs, `instance` the cost now. */
function prices(world: World, instance: Instance): Row {
  const { inet_up_cost, inet_down_cost } = instance.offer.facts
  const storage = storageRate(instance)
  const perHour = ({ gpu, disk }: Rates) => ({
    gpuCostPerHour: dollars(gpu),
    diskHour: dollars(disk),
    totalHour: dollars(gpu) + dollars(disk),
    discountTotalHour: dollars(Math.round(gpu * instance.discount)),
    discountedTotalPerHour: dollars(Math.round(gpu * (1 - instance.discount))) + dollars(disk),
  })
  return {
    storage_cost: instance.storageCost,
    storage_total_cost: dollars(storage),
    inet_up_cost,
    inet_down_cost,
    internet_up_cost_per_tb: inet_up_cost * 1024,
    internet_down_cost_per_tb: inet_down_cost * 1024,
    search: perHour({ gpu: gpuRate(instance), disk: storage }),
    instance: perHour(world.instances.ratesNow({ ...instance, discount: 0 })),
  }
}

/** Null without a prepayment. */
function deposit(world: World, { id, bid, discount }: Instance): Row {
  const left = world.deposits.left(id)
  return {
    credit_balance: left > 0 ? dollars(left) : null,
    credit_discount: left > 0 ? discount : null,
    credit_discount_max: bid === null ? MOST_DISCOUNT : 0,
  }
}

/** The fields that a record needs. */
const needed = new Set(
  (
    'id label actual_status intended_status cur_state next_state is_bid min_bid dph_base dph_total gpu_name ' +
    'num_gpus ssh_host ssh_port start_date image_uuid'
  ).split(' '),
)

/** The fields that may be null in the record of a running instance. */
const nullable = (
  'template_id template_hash_id template_name onstart jupyter_token status_msg uptime_mins mem_limit mem_usage ' +
  'vmem_usage gpu_util gpu_temp cpu_util disk_usage dlperf dlperf_per_dphtotal score os_version webpage end_date ' +
  'country_code public_ipaddr geolocation'
).split(' ')

function variant(row: Row, records: Profile['records']): Row {
  switch (records) {
    case 'null':
      return { ...row, ...Object.fromEntries(nullable.filter(name => name in row).map(name => [name, null])) }
    case 'missing':
      return Object.fromEntries(Object.entries(row).filter(([name]) => needed.has(name)))
    case 'unmarked':
      return Object.fromEntries(
        Object.entries(row).filter(([name]) => name !== 'label' && name !== 'extra_env'),
      )
    case 'text':
      return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asText(name, value)]))
    default:
      return row
  }
}

function asText(name: string, value: unknown): unknown {
  return typeof value === 'number' && name !== 'id' ? String(value) : value
}

/** The four fields of an instance's state. */
export interface States {
  actual_status: string | null
  cur_state: string
  next_state: string
  intended_status: string
}

/** World milliseconds for which a new instance has no status before it is `created`. */
const NOTHING_YET = 2000

/** An instance's state in the words of the public deployment, where a halted container is `exited`. */
export function publicStates(world: World, instance: Instance, { outbid }: Profile): States {
  const { status, intended, queued } = instance
  if (status === 'stopped') {
    const shown = isOutbid(instance) && outbid === 'stopped' ? 'stopped' : intended
    const next = queued ? 'running' : 'stopped'
    return { actual_status: 'exited', cur_state: 'stopped', next_state: next, intended_status: shown }
  }
  const created = status === null && world.clock.now() - instance.since > NOTHING_YET
  return {
    actual_status: created ? 'created' : status,
    cur_state: 'running',
    next_state: 'running',
    intended_status: intended,
  }
}
