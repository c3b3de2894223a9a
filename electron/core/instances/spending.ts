import { type Capabilities, describedCapabilities } from '#contract/account/capabilities.ts'
import type { InstanceState, InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import type { Instance } from '#service/instances.ts'

/** What an instance costs, micro-dollars per hour. GPUs are charged from `running`, the disk from creation on. */
export interface Prices {
  running?: Micros
  disk?: Micros
  /** What it costs as it is now, where the service tells: a stopped one's disk may cost more than a running one's. */
  now?: Micros
  /** A promised reliability is paid for: it is charged for its GPUs also while its host is gone. */
  promised?: true
}

/** Hours in a month, by which the price of a disk is told. */
export const monthHours = 720

type PriceFields = Pick<
  Instance,
  'dph_total' | 'dph_base' | 'storage_total_cost' | 'storage_cost' | 'disk_space' | 'search' | 'instance'
>

/**
 * The prices in a record. `dph_base` is for the GPUs alone, `dph_total` for GPUs and disk while it runs: it is told
 * of a stopped one, too, which costs its disk alone. What a record leaves out is as it was told last (`before`), and
 * what none has told as it was `agreed` with the rental, micro-dollars per hour.
 */
export function pricesOf(
  record: PriceFields,
  before?: Pick<InstanceView, 'pricePerHour' | 'diskPricePerHour'>,
  agreed?: Micros,
): Prices {
  const { storage_cost, disk_space } = record
  const total = believable(record.dph_total)
  const gpus = believable(record.dph_base)
  const byMonth =
    storage_cost === undefined || disk_space === undefined
      ? undefined
      : (storage_cost * disk_space) / monthHours
  const storage = believable(record.storage_total_cost) ?? believable(byMonth)
  const together = gpus === undefined || storage === undefined ? total : gpus + storage
  const between = gpus === undefined || total === undefined ? undefined : Math.max(0, total - gpus)
  const premium = believable(record.search?.slaPremiumPerHour ?? record.instance?.slaPremiumPerHour) ?? 0
  const whole = believable(record.search?.totalHour)
  return {
    ...(premium > 0 && { promised: true }),
    running:
      (whole === undefined || premium === 0 ? whole : Math.max(whole, total ?? 0)) ??
      together ??
      before?.pricePerHour ??
      agreed,
    // What is charged now for the disk is nothing while its host is gone, which is no price.
    disk: believable(record.instance?.diskHour) || (storage ?? between ?? before?.diskPricePerHour),
    now: believable(record.instance?.totalHour),
  }
}

/** Dollars per hour; no machine costs more, and one nonsensical price must not spoil every sum. */
const highestPrice = 1000

/** A price as the service gives it, in micro-dollars; undefined when it cannot be one. */
export function believable(dollars: number | undefined): Micros | undefined {
  return dollars !== undefined && dollars >= 0 && dollars <= highestPrice ? micros(dollars) : undefined
}

/** Seconds by which the service's moments and the account's time may differ. */
const uncertainty = 600
/** Seconds: no contract is older. */
const oldest = 3 * 366 * 86_400

/**
 * When an instance was created, as the service gives it, at `at`; undefined when that cannot be. One that Berth rented
 * (`since`) was not created earlier. All in epoch seconds.
 */
export function believableStart(told: number | undefined, at: number, since?: number): number | undefined {
  const earliest = since === undefined ? at - oldest : since - uncertainty
  return told !== undefined && told >= earliest && told <= at + uncertainty ? told : since
}

/** When its contract ends, as the service gives it; undefined when that is before it was created. Epoch seconds. */
export function believableEnd(told: number | undefined, startedAt: number | undefined): number | undefined {
  return told !== undefined && told > (startedAt ?? 0) ? told : undefined
}

/**
 * What it costs per hour as things are now: what the service says, unless that is nothing for what runs. Undefined where
 * nobody tells it. Where the service charges nothing for what is offline, it does so if its reliability is promised.
 */
export function costPerHour(
  state: InstanceState,
  { running, disk, now, promised }: Prices,
  { chargesOffline }: Pick<Capabilities, 'chargesOffline'> = describedCapabilities,
): Micros | undefined {
  if (hasTrait(state, 'gpusCharged')) return now || running
  if (state === 'offline' && promised) return now || running
  if (state === 'offline' && !chargesOffline) return now ?? 0
  return now ?? disk
}

/** Seconds that a boot takes at the most (section 3.1: typically 1 to 5 minutes). */
const longestBoot = 300

/** Seconds that what runs `at` and had still to boot at `from` has run at the least. Epoch seconds. */
export function ranAtLeast(from: number, at: number): number {
  return Math.max(0, at - from - longestBoot)
}

/**
 * Spent up to now. At the first poll nothing but the creation time is known: what it costs now is taken to have been
 * its cost since then. From there on each change of the price per hour begins a new stretch, and so does `traffic`,
 * what was charged for it since; for the seconds that it `ran` unseen it has cost as much as now. `at` in epoch seconds
 * of the account's time.
 */
export function spending(
  before: InstanceView['spent'] | undefined,
  perHour: Micros,
  startedAt: number | undefined,
  at: number,
  { traffic = 0, ran = 0 }: { traffic?: Micros; ran?: number } = {},
): InstanceView['spent'] {
  if (!before) return { micros: grown(perHour, at - (startedAt ?? at)) + traffic, at, perHour }
  if (before.perHour === perHour && traffic === 0) return before
  const unseen = Math.min(ran, Math.max(0, at - before.at))
  const earlier = grown(before.perHour, at - before.at - unseen) + grown(perHour, unseen)
  return { micros: before.micros + earlier + traffic, at, perHour }
}

function grown(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}
