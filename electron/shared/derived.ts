import type { AccountId } from './ids.ts'
import type { InstanceView } from './instance/instance.ts'
import { hasTrait } from './instance/state-traits.ts'
import type { Settings } from './settings.ts'
import type { Micros } from './spending/money.ts'
import type { AccountTime, AccountView, State } from './state.ts'

/** Values that page, tray and core derive from State. Local times in epoch milliseconds of this machine. */

/** The account's time now, in epoch seconds. */
export function accountNow(clock: AccountTime, localNow: number): number {
  return (clock.serverAt + (localNow - clock.localAt) * clock.rate) / 1000
}

/**
 * A moment of this machine's clock as an account's records have it (epoch milliseconds): the demo's in its own time, so
 * that all of the demo has one clock.
 */
export function recordedMoment(
  account: Pick<AccountView, 'demo' | 'clock'> | undefined,
  local: number,
): number {
  return account?.demo ? Math.round(accountNow(account.clock, local) * 1000) : local
}

/** The local time of a moment of the account's time (epoch seconds), to compare moments of several accounts. */
export function localMoment(clock: AccountTime, at: number): number {
  return clock.localAt + (at * 1000 - clock.serverAt) / clock.rate
}

/** The present cost of an instance, micro-dollars per hour; undefined where nobody tells it. */
export function knownCost({ costPerHour, costUnknown }: InstanceView): Micros | undefined {
  return costUnknown ? undefined : costPerHour
}

/** Whether the cost of one of the instances is unknown, so that what all of them cost is a part of the spending. */
export function isSpendingUnknown({ instances }: Pick<AccountView, 'instances'>): boolean {
  return Object.values(instances).some(({ costUnknown }) => costUnknown)
}

/** Whether an instance costs something, as far as is known: one of unknown cost does. */
export function isCharged({ costPerHour, costUnknown }: InstanceView): boolean {
  return costPerHour > 0 || costUnknown === true
}

/** The instance's cost up to a moment of the account's time (epoch seconds); undefined where nobody tells any of it. */
export function knownSpent(instance: InstanceView, at: number): Micros | undefined {
  const spent = spentBy(instance, at)
  return instance.costUnknown && spent === 0 ? undefined : spent
}

/** The same, with 0 for unknown values. */
export function spentBy(instance: InstanceView, at: number): Micros {
  const { spent } = instance
  return spent.micros + grownFrom(spent, at)
}

/** How much more a cost is at a moment (epoch seconds) than it was at `from.at`; `extra` comes in each hour. */
export function grownFrom(
  from: Pick<InstanceView['spent'], 'at' | 'perHour' | 'rise'>,
  at: number,
  extra = 0,
): Micros {
  const { perHour, rise = { at, perHour } } = from
  const turn = Math.min(Math.max(rise.at, from.at), at)
  const cost = (turn - from.at) * (perHour + extra) + (at - turn) * (rise.perHour + extra)
  return Math.max(0, Math.floor(cost / 3600))
}

/** The credit at a moment (epoch seconds); if not known since `creditAt`, estimated at the present rate. */
export function creditBy(
  { credit, creditAt, spendPerHour }: Pick<AccountView, 'credit' | 'creditAt' | 'spendPerHour'>,
  at: number,
): Micros | undefined {
  if (credit === undefined || creditAt === undefined) return credit
  return credit - Math.max(0, Math.floor(((at - creditAt) * spendPerHour) / 3600))
}

/** The cost per hour of all running instances' traffic. */
export function trafficPerHour({ instances }: Pick<AccountView, 'instances'>): Micros {
  return Object.values(instances).reduce((sum, instance) => sum + likelyTraffic(instance), 0)
}

/** The cost of a running instance's traffic, micro-dollars per hour: as measured in the last hour, else as its renter expects. */
export function likelyTraffic(instance: Pick<InstanceView, 'state' | 'traffic'>): Micros {
  return instance.state === 'running' ? instance.traffic?.perHour || expectedTraffic(instance) : 0
}

/** The expected cost of a running instance's traffic, micro-dollars per hour; 0 once measured. */
export function expectedTraffic({ state, traffic }: Pick<InstanceView, 'state' | 'traffic'>): Micros {
  return state === 'running' ? (traffic?.expectedPerHour ?? 0) : 0
}

/**
 * The rate for limits on the credit, micro-dollars per hour: all instances with their expected traffic, and those that
 * are stopping at their disk's price. Without measured traffic, since bursts end soon.
 */
export function calmRate(instances: AccountView['instances']): Micros {
  let sum = 0
  for (const id in instances) {
    const instance = instances[id]
    if (!instance) continue
    const { state, costPerHour, diskPricePerHour } = instance
    sum += state === 'stopping' ? (diskPricePerHour ?? 0) : costPerHour + expectedTraffic(instance)
  }
  return sum
}

/** What instances and volumes cost together, micro-dollars per hour. */
export function spendOf({
  instances,
  volumes,
}: Pick<AccountView, 'instances'> & { volumes: AccountView['volumes'] | undefined }): Micros {
  return Object.values(instances).reduce((sum, { costPerHour }) => sum + costPerHour, volumes?.perHour ?? 0)
}

/** Micro-dollars per hour once all booting instances run: their GPUs are not charged before. */
export function spendOnceReady({
  spendPerHour,
  instances,
}: Pick<AccountView, 'spendPerHour' | 'instances'>): Micros {
  return Object.values(instances).reduce(
    (sum, instance) => sum + costOnceReady(instance) - instance.costPerHour,
    spendPerHour,
  )
}

/** The same for one instance. */
export function costOnceReady({ state, pricePerHour, costPerHour }: InstanceView): Micros {
  return hasTrait(state, 'booting') ? Math.max(costPerHour, pricePerHour ?? 0) : costPerHour
}

/**
 * Seconds that the credit lasts at a rate (by default the present one) plus traffic; undefined if nothing is spent, or
 * the credit or a part of the spending is unknown.
 */
export function creditLasts(account: AccountView, spendPerHour = account.spendPerHour): number | undefined {
  return isSpendingUnknown(account) ? undefined : creditLastsAtMost(account, spendPerHour)
}

/** The same by the known part of the spending. */
function creditLastsAtMost(account: AccountView, spendPerHour: Micros): number | undefined {
  const perHour = spendPerHour + trafficPerHour(account)
  if (account.credit === undefined || perHour <= 0) return undefined
  return Math.max(0, (account.credit / perHour) * 3600)
}

/** Why the credit is unknown, as a sentence. */
export function creditUnknownWords({
  creditUntold,
  limitation,
}: Pick<AccountView, 'creditUntold' | 'limitation'>): string {
  if (creditUntold) return 'The service doesn’t report the credit.'
  return limitation ?? 'The credit isn’t known yet.'
}

/** Whether the credit is below the user's limits for warnings, multiplied by `factor`. */
export function isCreditLow(
  account: AccountView,
  { lowCreditDollars, lowCreditHours }: Pick<Settings, 'lowCreditDollars' | 'lowCreditHours'>,
  factor = 1,
): boolean {
  const { credit } = account
  if (credit === undefined) return false
  const lasts = creditLastsAtMost(account, account.spendPerHour)
  return (
    (lowCreditDollars > 0 && credit < lowCreditDollars * 1_000_000 * factor) ||
    (lowCreditHours > 0 && lasts !== undefined && lasts < lowCreditHours * 3600 * factor)
  )
}

/**
 * Since when it runs without a break (epoch seconds); undefined while it does not. An instance that already ran when
 * Berth first saw it counts from its creation.
 */
export function runningSince({ state, history, startedAt }: InstanceView): number | undefined {
  if (state !== 'running') return undefined
  const broken = history.findLastIndex(change => change.state !== 'running')
  return broken < 0 ? (startedAt ?? history[0]?.at) : history[broken + 1]?.at
}

/** Whether it counts as running where money is meant: its GPUs are charged, and it does not end. */
export function isOnTheMeter({ state }: InstanceView): boolean {
  return hasTrait(state, 'gpusCharged') && !hasTrait(state, 'over')
}

/** Whether SSH is possible: it runs, and the service has an address. */
export function canGetIn(instance: InstanceView): boolean {
  return instance.state === 'running' && (instance.ssh?.direct ?? instance.ssh?.proxy) !== undefined
}

/** Whether it cannot run in its state (section 3.1): the advice is to destroy it and try another offer. */
export function isDead({ state }: InstanceView): boolean {
  return hasTrait(state, 'dead')
}

/** Whether its contract ended: it cannot start, and its data may be deleted. `now`: epoch seconds, account time. */
export function isContractOver({ endsAt }: InstanceView, now: number): boolean {
  return endsAt !== undefined && endsAt <= now
}

/** Seconds until its contract ends, in the contract's last day only; else undefined. */
export function contractEndsIn({ endsAt }: InstanceView, now: number): number | undefined {
  const left = endsAt === undefined ? 0 : endsAt - now
  return left > 0 && left <= 86_400 ? left : undefined
}

/** The used part of its disk, 0 to 1; undefined if not known. */
export function diskUse({ disk }: InstanceView): number | undefined {
  return disk?.size && disk.used !== undefined ? disk.used / disk.size : undefined
}

/** The used part from which on a disk is nearly full. */
export const diskNearlyFull = 0.9

/** Whether its machine is offline, and it would run and be charged again once that is back. */
export function runsOnceBack({ state, intendedStatus }: InstanceView): boolean {
  return state === 'offline' && intendedStatus !== 'stopped'
}

/** `Lab: ` if an alert could be mistaken for another real account's; else empty. */
export function accountPrefix(accounts: State['accounts'], id: AccountId): string {
  const account = accounts[id]
  if (!account) return ''
  const real = Object.values(accounts).filter(({ demo }) => !demo).length
  return real > (account.demo ? 0 : 1) ? `${account.name}: ` : ''
}
