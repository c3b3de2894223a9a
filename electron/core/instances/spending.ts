import type { Instance } from '#service/instances.ts'
import { type Capabilities, describedCapabilities } from '#shared/account/capabilities.ts'
import { grownFrom } from '#shared/derived.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { type Micros, micros } from '#shared/spending/money.ts'

/** An instance's cost, micro-dollars per hour. GPUs are charged from `running`, the disk from creation on. */
export interface Prices {
  running?: Micros
  disk?: Micros
  /** Its current cost if the service reports it: a stopped instance's disk may cost more than a running one's. */
  now?: Micros
  /** The part for a promised reliability: with it, its GPUs are charged also while its host is gone. */
  promised?: Micros
  /** What it costs at least, whatever the service says: it was agreed when Berth rented it. */
  least?: AgreedPrices
}

/** What was agreed to at a rental, micro-dollars per hour: while it runs, and for its disk alone. */
export interface AgreedPrices {
  running?: Micros
  disk?: Micros
}

/** Hours in a month, for disk prices per month. */
export const monthHours = 720

type DepositFields = Pick<Instance, 'credit_balance' | 'credit_discount'>

type PriceFields = DepositFields &
  Pick<
    Instance,
    'dph_total' | 'dph_base' | 'storage_total_cost' | 'storage_cost' | 'disk_space' | 'search' | 'instance'
  >

/**
 * The prices in a record. `dph_base` is for the GPUs alone, `dph_total` for GPUs and disk while it runs: it is reported
 * for stopped instances too, which only cost their disk. Missing prices, and those of nothing, come from the last record
 * (`before`), else from the rental (`agreed`), which is the least that it costs.
 */
export function instancePrices(
  record: PriceFields,
  before?: Pick<InstanceView, 'pricePerHour' | 'diskPricePerHour'>,
  rented: AgreedPrices = {},
): Prices {
  const { storage_cost, disk_space, search, instance } = record
  const isPrepaid = prepaidOf(record) !== undefined
  // A discount makes it cost less than was agreed.
  const agreed = isPrepaid ? { ...rented, running: undefined } : rented
  const total = believable(record.dph_total)
  const gpus = believable(record.dph_base)
  const byMonth =
    storage_cost === undefined || disk_space === undefined
      ? undefined
      : (storage_cost * disk_space) / monthHours
  const storage = believable(record.storage_total_cost) ?? believable(byMonth)
  const together = gpus === undefined || storage === undefined ? total : gpus + storage
  const between = gpus === undefined || total === undefined ? undefined : Math.max(0, total - gpus)
  const premium = believable(search?.slaPremiumPerHour ?? instance?.slaPremiumPerHour) ?? 0
  const whole = believable((isPrepaid && search?.discountedTotalPerHour) || search?.totalHour)
  const promised = whole === undefined || premium === 0 ? whole : Math.max(whole, total ?? 0)
  const isAgreed = agreed.running !== undefined || agreed.disk !== undefined
  return {
    ...(premium > 0 && { promised: premium }),
    running: atLeast(
      (promised ?? together) || (before?.pricePerHour ?? promised ?? together),
      agreed.running,
    ),
    // While its host is gone, the disk costs nothing. That is no price to remember.
    disk: atLeast(
      believable(instance?.diskHour) || (storage ?? between ?? before?.diskPricePerHour),
      agreed.disk,
    ),
    now: believable((isPrepaid && instance?.discountedTotalPerHour) || instance?.totalHour),
    ...(isAgreed && { least: agreed }),
  }
}

/** What is left of a prepayment, with its discount. */
export function prepaidOf({ credit_balance, credit_discount }: DepositFields): InstanceView['prepaid'] {
  const left = credit_balance !== undefined && credit_balance > 0 ? micros(credit_balance) : 0
  return left > 0 ? { left, discount: shareOf(credit_discount) ?? 0 } : undefined
}

/** A share as the service gives it; undefined when it cannot be one. */
export function shareOf(share: number | undefined): number | undefined {
  return share !== undefined && share >= 0 && share <= 1 ? share : undefined
}

function atLeast(price: Micros | undefined, least: Micros | undefined): Micros | undefined {
  return price === undefined || least === undefined ? (price ?? least) : Math.max(price, least)
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
export function believableStart(
  reported: number | undefined,
  at: number,
  since?: number,
): number | undefined {
  const earliest = since === undefined ? at - oldest : since - uncertainty
  return reported !== undefined && reported >= earliest && reported <= at + uncertainty ? reported : since
}

/** When its contract ends, as the service gives it; undefined when that is before it was created. Epoch seconds. */
export function believableEnd(
  reported: number | undefined,
  startedAt: number | undefined,
): number | undefined {
  return reported !== undefined && reported > (startedAt ?? 0) ? reported : undefined
}

/**
 * The current cost per hour as the service reports it, unless it reports nothing for a running instance. Undefined if
 * unknown. Services that charge nothing while offline do so only for hosts with promised reliability.
 */
export function costPerHour(
  state: InstanceState,
  { running, disk, now, promised, least }: Prices,
  { chargesOffline }: Pick<Capabilities, 'chargesOffline'> = describedCapabilities,
): Micros | undefined {
  const isCharged = hasTrait(state, 'gpusCharged') || (state === 'offline' && promised)
  if (isCharged) return atLeast(now || running, least?.running)
  if (state === 'offline' && !chargesOffline) return now ?? 0
  // Some services report no cost for a machine that boots, and charge its disk.
  return atLeast(hasTrait(state, 'booting') ? now || disk : (now ?? disk), least?.disk)
}

/** Seconds that a boot takes at the most (section 3.1: typically 1 to 5 minutes). */
const longestBoot = 300

/** The least number of seconds that an instance has run which was booting at `from` and runs at `at`. Epoch seconds. */
export function ranAtLeast(from: number, at: number): number {
  return Math.max(0, at - from - longestBoot)
}

/**
 * Spent up to now. The first poll assumes the current price since creation. Each change of the hourly price starts a
 * new stretch, as does `traffic`, the charge for traffic since. Unobserved seconds (`ran`) are charged at the current
 * price, and those for which polls lacked it and it doesn't run now (`absent`) at the lower of the two: nobody saw it run.
 * `at` in epoch seconds of the account's time. `isCounted`: days have been counting the account for some polls.
 */
export function spending(
  before: InstanceView['spent'] | undefined,
  perHour: Micros,
  startedAt: number | undefined,
  at: number,
  {
    traffic = 0,
    ran = 0,
    absent = 0,
    isCounted = false,
  }: { traffic?: Micros; ran?: number; absent?: number; isCounted?: boolean } = {},
): InstanceView['spent'] {
  if (!before) {
    const age = at - (startedAt ?? at)
    const micros = grown(perHour, age) + traffic
    const first = { micros, at, perHour }
    if (age <= uncertainty) return first
    return { ...first, seenFrom: at, ...(!isCounted && { unseen: micros }) }
  }
  if (before.perHour === perHour && traffic === 0 && before.at <= at) return before
  const seconds = Math.max(0, at - before.at)
  const unseen = Math.min(ran, seconds)
  const away = Math.min(absent, seconds - unseen)
  const earlier =
    grownFrom(before, at - unseen - away) +
    grown(perHour, unseen) +
    grown(Math.min(before.perHour, perHour), away)
  const rise = before.rise && before.rise.at > at ? before.rise : undefined
  return { ...before, micros: before.micros + earlier + traffic, at, perHour, rise }
}

function grown(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}

/** Seconds of a correction that changes no cost. */
const smallCorrection = 5

/**
 * Instances, counted up to `expected`, that count on from `at`: where the account's time was set back, what they have
 * cost stays, and goes on. Only those that change. Epoch seconds.
 */
export function countedOn(
  instances: Readonly<Record<string, InstanceView>>,
  expected: number,
  at: number,
): InstanceView[] {
  const back = expected - at
  if (back <= smallCorrection) return []
  return Object.values(instances).map(view => ({
    ...view,
    spent: { ...view.spent, at: view.spent.at - back },
  }))
}
