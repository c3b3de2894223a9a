import * as v from 'valibot'
import {
  contractEndsIn,
  creditLasts,
  diskNearlyFull,
  diskUse,
  isCharged,
  isCreditLow,
  isSpendingUnknown,
} from '#shared/derived.ts'
import { money, rate } from '#shared/format/money.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import { atMoment, duration } from '#shared/format/time.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { afterContract } from '#shared/instance/instance-words.ts'
import { type MaintenanceView, maintenanceWords } from '#shared/instance/maintenance.ts'
import { isRenting } from '#shared/market/rental-view.ts'
import type { Settings } from '#shared/settings.ts'
import type { Micros } from '#shared/spending/money.ts'
import { increasedRate } from '#shared/spending/price-increase.ts'
import type { AccountView } from '#shared/state.ts'
import { type Alert, alertOf } from './events.ts'
import { alertedState, instanceAlert, unstarted } from './instance-alerts.ts'

/** Past alerts, per account. Stored so that none is repeated. */
export const AlertedState = v.object({
  /** Whether low credit was reported and has not recovered since. */
  lowCredit: v.boolean(),
  /** Whether credit below zero, with something charged, was reported and has not risen above zero since. */
  belowZero: v.optional(v.boolean()),
  /** The state of each instance at the last poll, by id. */
  instances: v.record(v.string(), v.string()),
  /** The contract ends that were warned of, epoch seconds by instance. */
  contractEnds: v.optional(v.record(v.string(), v.number())),
  /** The announced maintenance that was reported, by instance: when it begins, epoch seconds. */
  maintenances: v.optional(v.record(v.string(), v.number())),
  /** Instances whose nearly full disk was reported and has not been relieved since. */
  fullDisks: v.optional(v.array(v.number())),
  /** The prices that were agreed to, seen first or reported since, micro-dollars per running hour by instance. */
  prices: v.optional(v.record(v.string(), v.number())),
})
export type AlertedState = v.InferOutput<typeof AlertedState>

type AlertedCredit = Pick<AlertedState, 'lowCredit' | 'belowZero'>
/** The warnings that were sent about instances, apart from their state. */
type AlertedWarnings = Pick<AlertedState, 'contractEnds' | 'maintenances' | 'fullDisks' | 'prices'>

/** A full disk counts as relieved below this share, so that fluctuations do not repeat the warning. */
const diskRelieved = 0.85
/** A price is reported once it is above the known one by this factor: one agreed to may lack a part of the disk's. */
const dearer = 1.05
/** Seconds by which a contract's end, or a window's start, may vary and still be the same one. */
const sameEnd = 3600
/** Low credit counts as recovered above this multiple of its threshold, so that it is not reported again and again. */
const forgetAbove = 1.2

/**
 * The alerts after a poll, given those sent before, and the new record of them. Without `alerted` it is the first poll
 * ever, which reports only what needs an answer. `at`: epoch seconds of the account's time.
 */
export function alertsAfterPoll(
  alerted: AlertedState | undefined,
  account: AccountView,
  settings: Settings,
  at: number,
): { alerts: Alert[]; alerted: AlertedState } {
  const credit = creditAlert(alerted, account, settings)
  const found: Alert[] = credit.alert ? [credit.alert] : []
  const instances: Record<string, string> = {}
  const untried: InstanceView[] = []
  for (const instance of Object.values(account.instances)) {
    const before = alerted?.instances[instance.id]
    const now = alertedState(instance, account)
    instances[instance.id] = now
    if (wasAttempted(account, instance.id)) continue
    untried.push(instance)
    if (before === now) continue
    const stateBefore = before === unstarted ? undefined : (before as InstanceState | undefined)
    const alert = instanceAlert(stateBefore, now, instance, account)
    if (alert) found.push(alert)
  }
  const warnings = instanceWarnings(alerted ?? {}, untried, account, at)
  return {
    alerts: [...found, ...warnings.alerts],
    alerted: { ...credit.alerted, instances, ...warnings.alerted },
  }
}

/** Whether a rental with retries handles it, which drops the instance or reports itself that it is ready. */
function wasAttempted({ rentals }: AccountView, id: number): boolean {
  return Object.values(rentals).some(rental => rental.retries && rental.instance === id && isRenting(rental))
}

/** The alert for credit that has become low, or has fallen below zero while something is charged. */
function creditAlert(
  before: AlertedCredit | undefined,
  account: AccountView,
  settings: Settings,
): { alert?: Alert; alerted: AlertedCredit } {
  const { credit } = account
  const { lowCredit = false, belowZero = false } = before ?? {}
  if (credit === undefined) return { alerted: { lowCredit, belowZero } }
  const alerted = {
    lowCredit: isCreditLow(account, settings, lowCredit ? forgetAbove : 1),
    belowZero: belowZero ? credit <= 0 : isChargedBelowZero(account),
  }
  const isNew = (alerted.lowCredit && !lowCredit) || (alerted.belowZero && !belowZero)
  return isNew ? { alert: lowCreditAlert(account, credit), alerted } : { alerted }
}

/** Whether something is charged that the credit no longer pays for, so that the service may delete it. */
function isChargedBelowZero({ credit = 0, instances }: AccountView): boolean {
  return credit < 0 && Object.values(instances).some(isCharged)
}

/** The alert for low credit. */
export function lowCreditAlert(account: AccountView, credit: Micros): Alert {
  return alertOf('lowCredit', {
    id: `${account.id}/credit`,
    title: credit > 0 ? `${money(credit)} of credit left` : `No credit left: ${money(credit)}`,
    body: lowCreditWords(account),
  })
}

function lowCreditWords(account: AccountView): string {
  const perHour = rate(account.spendPerHour)
  if (isChargedBelowZero(account))
    return `Your files may be deleted, and ${
      isSpendingUnknown(account) ? 'instances are still charged' : `${perHour} is still charged`
    }. Add credit, or destroy instances you don’t need.`
  if (isSpendingUnknown(account))
    return 'The service doesn’t report all spending, so it’s unknown how long this lasts.'
  const lasts = creditLasts(account)
  if (lasts === undefined) return 'No instance is running.'
  return lasts > 0
    ? `At ${perHour} the credit lasts ${duration(lasts)}.`
    : `It’s used up, and you’re still spending ${perHour}.`
}

/**
 * Warnings that a contract ends, a machine is worked on, a disk fills up or a price has risen. Each is sent once; a moment
 * again where it was moved, a disk again after it had room. `at`: epoch seconds of the account's time.
 */
function instanceWarnings(
  alerted: AlertedWarnings,
  instances: readonly InstanceView[],
  account: Pick<AccountView, 'id' | 'priceIncreases' | 'maintenances'>,
  at: number,
): { alerts: Alert[]; alerted: Required<AlertedWarnings> } {
  const alerts: Alert[] = []
  const contractEnds: Record<string, number> = {}
  const maintenances: Record<string, number> = {}
  const fullDisks: number[] = []
  const prices: Record<string, Micros> = {}
  const alertedFull = new Set(alerted.fullDisks)
  for (const instance of instances) {
    const increase = account.priceIncreases[instance.id]
    const alertedEnd = stillAlertedEnd(alerted.contractEnds?.[instance.id], instance)
    const isNear = contractEndsIn(instance, at) !== undefined && increase?.accepted === undefined
    const end = alertedEnd ?? (isNear ? instance.endsAt : undefined)
    if (end !== undefined) contractEnds[instance.id] = end
    if (end !== undefined && alertedEnd === undefined)
      alerts.push(
        contractAlert(instance, end, { account: account.id, increased: increase !== undefined, at }),
      )

    const alertedStart = alerted.maintenances?.[instance.id]
    const window = account.maintenances?.[instance.id]
    const start = window ? movedStart(alertedStart, window) : alertedStart
    if (start !== undefined) maintenances[instance.id] = start
    if (window && start !== alertedStart)
      alerts.push(maintenanceAlert(instance, window, { account: account.id, at }))

    const known = alerted.prices?.[instance.id] ?? instance.agreedPrice
    const price = priceToKnow(known, instance)
    // One that was accepted is no surprise once it applies, and then it's listed no more.
    const accepted = increase?.accepted ? increasedRate(increase, instance)?.after : undefined
    if (price !== undefined) prices[instance.id] = Math.max(price, accepted ?? 0)
    if (known !== undefined && price !== undefined && price > known && !increase?.accepted)
      alerts.push(priceAlert(instance, { before: known, after: price, account: account.id }))

    const use = diskUse(instance)
    const wasFull = alertedFull.has(instance.id)
    if (use === undefined ? wasFull : use >= (wasFull ? diskRelieved : diskNearlyFull)) {
      fullDisks.push(instance.id)
      if (!wasFull && use !== undefined) alerts.push(diskAlert(instance, use, account.id))
    }
  }
  return { alerts, alerted: { contractEnds, maintenances, fullDisks, prices } }
}

/** The price to compare the next ones with. A bid is the user's own, and what doesn't run says little of its price. */
function priceToKnow(
  known: Micros | undefined,
  { state, interruptible, pricePerHour = 0 }: InstanceView,
): Micros | undefined {
  if (state !== 'running' || interruptible || pricePerHour <= 0) return known
  return known === undefined || pricePerHour > known * dearer ? pricePerHour : known
}

/** The end that was warned of, unless it was postponed since. */
function stillAlertedEnd(alerted: number | undefined, { endsAt }: InstanceView): number | undefined {
  const putOff = alerted !== undefined && endsAt !== undefined && Math.abs(alerted - endsAt) > sameEnd
  return putOff ? undefined : alerted
}

/** The start that was reported, unless the window has moved since. */
function movedStart(alerted: number | undefined, { from }: MaintenanceView): number {
  return alerted === undefined || Math.abs(alerted - from) > sameEnd ? from : alerted
}

/** Whether an alert still applies, as far as a poll can tell. */
export function stillHolds(
  { kind, instance, state }: Alert,
  account: AccountView,
  alerted: AlertedState,
): boolean {
  if (kind === 'lowCredit') return alerted.lowCredit || alerted.belowZero === true
  if (instance === undefined) return true
  if (state !== undefined) return account.instances[instance]?.state === state
  if (kind === 'contractEnd') return alerted.contractEnds?.[instance] !== undefined
  if (kind === 'maintenance') return account.maintenances?.[instance] !== undefined
  if (kind === 'diskFull') return alerted.fullDisks?.includes(instance) ?? false
  return true
}

function contractAlert(
  instance: InstanceView,
  end: number,
  { account, increased, at }: { account: string; increased: boolean; at: number },
): Alert {
  const advice = increased
    ? 'To keep it, accept its host’s new prices. Otherwise copy any files you need.'
    : 'Copy any files you need.'
  // Warnings have separate ids, so that they don't replace alerts about the instance's state.
  return alertOf('contractEnd', {
    id: `${account}/${instance.id}/contractEnd`,
    instance: instance.id,
    title: `The contract of ${shortInstanceName(instance)} ends ${atMoment(end, at)}`,
    body: `Then it stops: ${afterContract}. ${advice}`,
  })
}

function maintenanceAlert(
  instance: InstanceView,
  window: MaintenanceView,
  { account, at }: { account: string; at: number },
): Alert {
  return alertOf('maintenance', {
    id: `${account}/${instance.id}/maintenance`,
    instance: instance.id,
    title: `Maintenance of ${shortInstanceName(instance)} ${window.from > at ? atMoment(window.from, at) : 'goes on'}`,
    body: `${maintenanceWords(window, at)} Copy any files you need, or move its run to another machine before.`,
  })
}

function priceAlert(
  instance: InstanceView,
  { before, after, account }: { before: Micros; after: Micros; account: string },
): Alert {
  return alertOf('priceIncrease', {
    id: `${account}/${instance.id}/price`,
    instance: instance.id,
    title: `${shortInstanceName(instance)} now costs ${rate(after)}`,
    body: `It was ${rate(before)}. Limits in dollars count what it costs now. A limit in hours lets it cost more than before.`,
  })
}

function diskAlert(instance: InstanceView, use: number, account: string): Alert {
  return alertOf('diskFull', {
    id: `${account}/${instance.id}/diskFull`,
    instance: instance.id,
    title: `The disk of ${shortInstanceName(instance)} is ${Math.floor(use * 100)}% full`,
    body: 'Programs that write to a full disk fail, and the disk can’t grow: delete files, or copy them elsewhere.',
  })
}
