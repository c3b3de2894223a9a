import { isIP } from 'node:net'
import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util'
import type { Instance } from '#service/instances.ts'
import { type Capabilities, describedCapabilities } from '#shared/account/capabilities.ts'
import type {
  InstanceState,
  InstanceView,
  PortMapping,
  StateRequest,
  StatusChange,
} from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { webApps } from '#shared/instance/web-apps.ts'
import { cover, plainText, shortened } from '#shared/text.ts'
import { checkHost, checkPort } from '#ssh/connection/addresses.ts'
import { problemOf } from '../bridge/problems.ts'
import { instanceState, type Past } from './instance-state.ts'
import { plainLabel, rentalOf } from './mark.ts'
import {
  type AgreedPrices,
  believable,
  believableEnd,
  believableStart,
  costPerHour,
  instancePrices,
  prepaidOf,
  ranAtLeast,
  shareOf,
  spending,
} from './spending.ts'
import { expectedPerHour, isStillExpected, trafficOf } from './traffic.ts'

/** How the account was seen before. */
export interface LastPoll {
  /** Epoch seconds; undefined where it never was. */
  at?: number
  /** It was shortly before: little can have happened unseen. */
  unbroken: boolean
  /** Of an instance that polls lacked: since when, epoch seconds. */
  missingSince?: number
}

/** An instance before polls lacked it, and when the first of those was, epoch seconds of the account's time. */
export interface LastView {
  at: number
  view: InstanceView
}

/** Data about an instance from its rental. */
export interface Rented {
  /** The mark that was sent with it, in case the service doesn't show it. */
  mark?: string
  /** GB of traffic that its renter expects. */
  traffic?: number
  /** The prices agreed to. */
  agreed?: AgreedPrices
  /** When Berth rented it, epoch seconds: it did not exist before. */
  since?: number
  /** When the service rented it without starting it, epoch seconds: it waits for a GPU. */
  queuedAt?: number
}

/** Inputs for the states and costs of instances. */
export type InstanceHabits = Pick<Capabilities, 'restartsExited' | 'showsOutbidAsStopped' | 'chargesOffline'>

/** How much of its past is kept. */
const longestHistory = 50
/** Characters of the service's status line that are shown. */
const longestMessage = 500

/**
 * An instance's record (section 2.1, and additions of deployments) as Berth shows it. `before` is its last view, `at`
 * the account's time of the answer in epoch seconds, `rented` the data from its rental if Berth rented it. Secrets in
 * the record stay in the record.
 */
export function instanceView(
  record: Instance,
  before: InstanceView | undefined,
  at: number,
  lastPoll: LastPoll = { at, unbroken: true },
  rented: Rented = {},
  capabilities: InstanceHabits = describedCapabilities,
): InstanceView {
  const actualStatus = cleanLine(record.actual_status) ?? null
  const intendedStatus = cleanLine(record.intended_status)
  const interruptible = record.is_bid ?? false
  const dphBase = record.dph_base
  const minimumBid = record.min_bid
  const message = cleanLine(record.status_msg)
  const status = {
    actualStatus,
    currentState: cleanLine(record.cur_state),
    nextState: cleanLine(record.next_state),
    intendedStatus,
    statusMessage: message,
    interruptible,
    bid: dphBase,
    minimumBid,
  }
  const past = before ? pastOf(before, lastPoll.unbroken) : queuedPast(rented.queuedAt)
  const state = instanceState(status, past, at, capabilities)
  const price = instancePrices(record, before, rented.agreed)
  const reportedCost = costPerHour(state, price, capabilities)
  const perHour = reportedCost ?? 0
  const startedAt = believableStart(record.start_date, at, rented.since)
  const { traffic, charged } = trafficOf(record, before?.traffic, at, rented.since)
  const expected =
    rented.traffic !== undefined && traffic && isStillExpected(traffic, startedAt, at)
      ? { expectedPerHour: expectedPerHour(rented.traffic, traffic) }
      : {}
  const booted = state === 'running' && before !== undefined && hasTrait(before.state, 'booting')
  const ran = booted ? ranAtLeast(Math.max(lastPoll.at ?? 0, startedAt ?? 0), at) : 0
  const { missingSince = at } = lastPoll
  const rawLabel = record.label

  return {
    id: record.id,
    mark: rentalOf(rawLabel, record.extra_env ?? []) ?? rented.mark,
    label: rawLabel === undefined ? undefined : plainLabel(cleanLine(rawLabel) ?? ''),
    state,
    actualStatus,
    intendedStatus,
    stateRequest: pendingRequest(before ? before.stateRequest : past?.stateRequest, state, at),
    statusMessage: message,
    gpu: gpuOf(record),
    ...gpuMeasures(record),
    cpu: { load: record.cpu_util, memoryUsed: record.mem_usage, memoryTotal: record.mem_limit },
    disk: { size: record.disk_space, used: record.disk_usage },
    interruptible,
    pricePerHour: state === 'running' ? perHour || price.running : price.running,
    agreedPrice: rented.agreed?.running,
    reliabilityPrice: price.promised,
    prepaid: prepaidOf(record),
    mostDiscount: shareOf(record.credit_discount_max),
    diskPricePerHour: price.disk,
    costPerHour: perHour,
    costUnknown: reportedCost === undefined || undefined,
    bid: interruptible ? believable(dphBase) : undefined,
    minimumBid: believable(minimumBid),
    spent: spending(before?.spent, perHour, startedAt, at, {
      traffic: charged,
      ran,
      absent: hasTrait(state, 'gpusCharged') ? 0 : at - missingSince,
      isCounted: lastPoll.at !== undefined,
    }),
    traffic: traffic && { ...traffic, ...expected },
    startedAt,
    endsAt: believableEnd(record.end_date, startedAt),
    image: cleanLine(record.image_uuid),
    template: cleanLine(record.template_name),
    runtype: cleanLine(record.image_runtype),
    location: cleanLine(record.geolocation),
    machineId: record.machine_id,
    hostId: record.host_id,
    ssh: sshOf(record),
    ports: portsOf(record),
    jupyter: record.image_runtype?.startsWith('jupyter') ?? false,
    apps: appsOf(record, before?.apps),
    history: grownHistory(before?.history, { at, state, actualStatus, message }),
  }
}

function pastOf({ state, intendedStatus, stateRequest, history }: InstanceView, unbroken: boolean): Past {
  const since = history[history.findLastIndex(change => change.state !== state) + 1]?.at ?? 0
  const firstBoot =
    history.some(change => hasTrait(change.state, 'booting')) &&
    !history.some(change => change.state === 'running')
  return { state, since, intendedStatus, stateRequest, firstBoot, unbroken }
}

/** The past of a rental that the service did not start at once, as of a start that was queued. */
function queuedPast(at: number | undefined): Past | undefined {
  if (at === undefined) return undefined
  const stateRequest = { state: 'running', at, queued: true } as const
  return { state: 'provisioning', since: at, stateRequest, firstBoot: true, unbroken: true }
}

/** Seconds for which the service may still show the state from before the request. */
const untilShown = 120

/** Berth's request, until it is fulfilled or someone else requests the opposite. */
function pendingRequest(
  asked: StateRequest | undefined,
  state: InstanceState,
  at: number,
): StateRequest | undefined {
  const opposite = asked?.state === 'running' ? 'stopped' : 'running'
  if (asked?.state === 'running' && state === 'running') return undefined
  return asked && state === opposite && at - asked.at > untilShown ? undefined : asked
}

/** Percent and degrees Celsius. 0 °C without load means that the host did not report, not that the GPU was measured. */
function gpuMeasures({ gpu_util, gpu_temp }: Instance): Pick<InstanceView, 'gpuLoad' | 'gpuTemperature'> {
  return gpu_util === 0 && gpu_temp === 0 ? {} : { gpuLoad: gpu_util, gpuTemperature: gpu_temp }
}

function gpuOf(record: Instance): InstanceView['gpu'] {
  const name = cleanLine(record.gpu_name)
  if (name === undefined) return undefined
  return { name, count: record.num_gpus ?? 1, memory: record.gpu_ram }
}

/**
 * `22/tcp` among the ports is the direct way; `ssh_host` and `ssh_port` the proxy's (FIELDS: where SSH answers). A
 * fault in one does not affect the other; it is a problem only if there is no other.
 */
function sshOf(record: Instance): InstanceView['ssh'] {
  const listed = portsOf(record).find(port => port.container === '22/tcp')
  const direct = listed && { host: listed.host, port: listed.port }
  const { ssh_host: host, ssh_port: port } = record
  if (!host || typeof port !== 'number') return direct && { direct }
  try {
    const proxy = { host: checkHost(host), port: checkPort(port) }
    return direct ? { direct, proxy } : { proxy }
  } catch (error) {
    if (direct) return { direct }
    return { problem: problemOf(error).message }
  }
}

/** The outside ports, at the machine's public address; a port that is none is passed over. */
function portsOf({ ports, public_ipaddr }: Instance): readonly PortMapping[] {
  const host = publicHost(public_ipaddr)
  if (!ports || host === undefined) return []
  return Object.entries(ports).flatMap(([container, places]) => {
    if (!/^\d{1,5}\/(tcp|udp)$/.test(container)) return []
    const port = places?.map(place => Number(place.HostPort)).find(isPort)
    return port === undefined ? [] : [{ container, host, port }]
  })
}

/** The pages that the environment names, as the same value while they are the same. */
function appsOf({ extra_env }: Instance, before: InstanceView['apps']): InstanceView['apps'] {
  const apps = webApps(extra_env ?? [])
  if (apps.length === 0) return undefined
  return isDeepStrictEqual(apps, before) ? before : apps
}

/** The machine's public address; the first of several in one text. */
function publicHost(text: string | undefined): string | undefined {
  const hosts = (text ?? '').trim().split(/[\s,]+/)
  return hosts.length === 1 ? hosts.find(isHost) : hosts.find(host => isIP(host) !== 0 && isHost(host))
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port < 65_536
}

function isHost(text: string): boolean {
  try {
    checkHost(text)
    return true
  } catch {
    return false
  }
}

function grownHistory(
  before: readonly StatusChange[] | undefined,
  change: StatusChange,
): readonly StatusChange[] {
  const last = before?.at(-1)
  if (before && last?.state === change.state && last.actualStatus === change.actualStatus) return before
  return [...(before ?? []), change].slice(-longestHistory)
}

/** One line without control characters; undefined when nothing is left. */
export function cleanLine(text: string | null | undefined): string | undefined {
  const plain = plainText(stripVTControlCharacters((text ?? '').slice(0, 4 * longestMessage)))
  return shortened(plain, longestMessage) || undefined
}

/** Names of fields whose values are or may contain secrets. */
const secretName = /token|secret|pass|api_?key|credential|private_?key/i
/** Names of the environment in all its shapes: variable names are shown if they can be separated from the values. */
const environment = /^(extra_)?env$/

/** The depth of nesting that is shown; deeper values are masked. */
const deepest = 32

/** A record for display, with the values of secret fields, of the environment and of too deep nesting masked. */
export function maskRecord(record: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, maskField(name, value, depth)]),
  )
}

function maskField(name: string, value: unknown, depth: number): unknown {
  if (value === null || value === undefined || value === '') return value
  if (secretName.test(name)) return cover
  if (environment.test(name)) return maskEnvironment(value)
  if (typeof value === 'object' && depth >= deepest) return cover
  if (Array.isArray(value)) return value.map(item => maskField('', item, depth + 1))
  if (typeof value === 'object') return maskRecord(value as Record<string, unknown>, depth + 1)
  return value
}

function maskEnvironment(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((pair: unknown) => (Array.isArray(pair) ? [pair[0], cover] : cover))
  if (typeof value !== 'object' || value === null) return cover
  return Object.fromEntries(Object.keys(value).map(variable => [variable, cover]))
}
