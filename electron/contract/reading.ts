import type { Settings } from './app/settings.ts'
import type { AccountId } from './ids.ts'
import type { InstanceView } from './instance/instance.ts'
import { hasTrait } from './instance/state-traits.ts'
import type { Micros } from './spending/money.ts'
import type { AccountTime, AccountView, State } from './state.ts'

/** What page, tray and core read out of State alike. Local times in epoch milliseconds of this machine. */

/** The account's time now, in epoch seconds. */
export function accountNow(clock: AccountTime, localNow: number): number {
  return (clock.serverAt + (localNow - clock.localAt) * clock.rate) / 1000
}

/** When a moment of the account's time (epoch seconds) comes by this machine's clock, by which accounts compare. */
export function localMoment(clock: AccountTime, at: number): number {
  return clock.localAt + (at * 1000 - clock.serverAt) / clock.rate
}

/** What the instance has cost up to a moment of the account's time (epoch seconds). */
export function spentBy(instance: InstanceView, at: number): Micros {
  const { spent } = instance
  return spent.micros + Math.max(0, Math.floor(((at - spent.at) * spent.perHour) / 3600))
}

/** What is left of the credit at a moment (epoch seconds), where it was not told since: if all went on as it is now. */
export function creditBy(
  { credit, creditAt, spendPerHour }: Pick<AccountView, 'credit' | 'creditAt' | 'spendPerHour'>,
  at: number,
): Micros | undefined {
  if (credit === undefined || creditAt === undefined) return credit
  return credit - Math.max(0, Math.floor(((at - creditAt) * spendPerHour) / 3600))
}

/** What the traffic of all that runs comes to per hour: measured of late, or expected by who rented it until then. */
export function trafficPerHour({ instances }: Pick<AccountView, 'instances'>): Micros {
  return Object.values(instances).reduce(
    (sum, instance) =>
      sum + (instance.state === 'running' ? instance.traffic?.perHour || expectedTraffic(instance) : 0),
    0,
  )
}

/** Micro-dollars per hour that its traffic is expected to cost while it runs, where none was measured. */
export function expectedTraffic({ state, traffic }: Pick<InstanceView, 'state' | 'traffic'>): Micros {
  return state === 'running' ? (traffic?.expectedPerHour ?? 0) : 0
}

/**
 * What a guard on the credit goes by, micro-dollars per hour: all instances and the traffic expected of them, what is
 * being stopped at its disk's price already. Traffic as it was measured is not in it: a burst of it is soon over.
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

/** Micro-dollars per hour that are spent once all that boots now runs: GPUs are not charged before. */
export function spendOnceReady({
  spendPerHour,
  instances,
}: Pick<AccountView, 'spendPerHour' | 'instances'>): Micros {
  return Object.values(instances).reduce(
    (sum, instance) => sum + costOnceReady(instance) - instance.costPerHour,
    spendPerHour,
  )
}

/** The same of one instance. */
export function costOnceReady({ state, pricePerHour, costPerHour }: InstanceView): Micros {
  return hasTrait(state, 'booting') ? Math.max(costPerHour, pricePerHour ?? 0) : costPerHour
}

/**
 * Seconds the credit lasts at what is spent per hour (now, if not given), traffic included; undefined when nothing is
 * spent or it is not known.
 */
export function creditLasts(account: AccountView, spendPerHour = account.spendPerHour): number | undefined {
  const perHour = spendPerHour + trafficPerHour(account)
  if (account.credit === undefined || perHour <= 0) return undefined
  return Math.max(0, (account.credit / perHour) * 3600)
}

/** Whether the credit is below what the user wants to be warned at, or below `factor` times that. */
export function isCreditLow(
  account: AccountView,
  { lowCreditDollars, lowCreditHours }: Pick<Settings, 'lowCreditDollars' | 'lowCreditHours'>,
  factor = 1,
): boolean {
  const { credit } = account
  if (credit === undefined) return false
  const lasts = creditLasts(account)
  return (
    (lowCreditDollars > 0 && credit < lowCreditDollars * 1_000_000 * factor) ||
    (lowCreditHours > 0 && lasts !== undefined && lasts < lowCreditHours * 3600 * factor)
  )
}

/**
 * Since when it runs without a break (epoch seconds); undefined while it does not. What ran before Berth first saw it is
 * taken to run since its creation.
 */
export function runningSince({ state, history, startedAt }: InstanceView): number | undefined {
  if (state !== 'running') return undefined
  const broken = history.findLastIndex(change => change.state !== 'running')
  return broken < 0 ? (startedAt ?? history[0]?.at) : history[broken + 1]?.at
}

/** Whether a shell can be had: it runs, and the service says where. */
export function canGetIn(instance: InstanceView): boolean {
  return instance.state === 'running' && (instance.ssh?.direct ?? instance.ssh?.proxy) !== undefined
}

/** Whether it cannot run as things are (section 3.1): the advice is to destroy it and try another offer. */
export function isDead({ state }: InstanceView): boolean {
  return hasTrait(state, 'dead')
}

/** Whether its contract is over: it cannot start, and its data may be deleted. `now`: epoch seconds of the account's time. */
export function isContractOver({ endsAt }: InstanceView, now: number): boolean {
  return endsAt !== undefined && endsAt <= now
}

/** Seconds left of its contract, where that ends within a day; undefined before that, and once it is over. */
export function contractEndsIn({ endsAt }: InstanceView, now: number): number | undefined {
  const left = endsAt === undefined ? 0 : endsAt - now
  return left > 0 && left <= 86_400 ? left : undefined
}

/** How much of its disk is used, 0 to 1; undefined while that is not told. */
export function diskUse({ disk }: InstanceView): number | undefined {
  return disk?.size && disk.used !== undefined ? disk.used / disk.size : undefined
}

/** The part of a disk from which on it counts as nearly full. */
export const diskNearlyFull = 0.9

/** Whether it is on a machine that is offline, and would run and be charged again once that is back. */
export function runsOnceBack({ state, intendedStatus }: InstanceView): boolean {
  return state === 'offline' && intendedStatus !== 'stopped'
}

/** `Lab: ` where the user could take an alert for another account's: the demo is never meant without its name. */
export function accountPrefix(accounts: State['accounts'], id: AccountId): string {
  const account = accounts[id]
  if (!account) return ''
  const real = Object.values(accounts).filter(({ demo }) => !demo).length
  return real > (account.demo ? 0 : 1) ? `${account.name}: ` : ''
}
