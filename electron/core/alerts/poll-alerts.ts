import * as v from 'valibot'
import { costOnceReady, creditLasts, isCharged, isCreditLow, isSpendingUnknown } from '#shared/derived.ts'
import { money, rate } from '#shared/format/money.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import { duration } from '#shared/format/time.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { isRenting } from '#shared/market/rental-view.ts'
import type { Settings } from '#shared/settings.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { type Alert, alertOf } from './events.ts'
import { alertedState, instanceAlert, unstarted } from './instance-alerts.ts'
import { warningHolds, warningsAfterPoll } from './instance-warnings.ts'

/** Past alerts, per account. Stored so that none is repeated. */
export const AlertedState = v.object({
  /** Whether low credit was reported and has not recovered since. */
  lowCredit: v.boolean(),
  /** Whether credit below zero, with something charged, was reported and has not risen above zero since. */
  belowZero: v.optional(v.boolean()),
  /** The state of each instance at the last poll, by id. */
  instances: v.record(v.string(), v.string()),
  /** What warnings about instances were about, by event and instance. */
  warned: v.optional(v.record(v.string(), v.record(v.string(), v.number()))),
})
export type AlertedState = v.InferOutput<typeof AlertedState>

type AlertedCredit = Pick<AlertedState, 'lowCredit' | 'belowZero'>

/** Low credit counts as recovered above this multiple of its threshold, so that it is not reported again and again. */
const forgetAbove = 1.2

/**
 * The alerts after a poll, given those sent before, and the new record of them. Without `alerted` it is the first poll
 * ever, which reports only what needs an answer. `at`: epoch seconds of the account's time. `isOwn`: whether this Berth made a
 * mark.
 */
export function alertsAfterPoll(
  alerted: AlertedState | undefined,
  account: AccountView,
  settings: Settings,
  at: number,
  isOwn: (mark: string) => boolean = () => false,
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
    if (alerted && before === undefined && isForeign(instance, account, isOwn))
      found.push(elsewhereAlert(account, instance))
    if (before === now) continue
    const stateBefore = before === unstarted ? undefined : (before as InstanceState | undefined)
    const alert = instanceAlert(stateBefore, now, instance, account)
    if (alert) found.push(alert)
  }
  const warnings = warningsAfterPoll(alerted?.warned ?? {}, untried, { account, at })
  return {
    alerts: [...found, ...warnings.alerts],
    alerted: { ...credit.alerted, instances, warned: warnings.warned },
  }
}

/** Whether a rental with retries handles it, which drops the instance or reports itself that it is ready. */
function wasAttempted({ rentals }: AccountView, id: number): boolean {
  return Object.values(rentals).some(rental => rental.retries && rental.instance === id && isRenting(rental))
}

/**
 * Whether this Berth didn't rent it. One whose creation wasn't answered bears its mark before it's known to be its own, even
 * where its rental has ended since.
 */
function isForeign(
  { id, agreedPrice, mark }: InstanceView,
  { rentals }: AccountView,
  isOwn: (mark: string) => boolean,
): boolean {
  if (mark !== undefined && isOwn(mark)) return false
  return agreedPrice === undefined && !Object.values(rentals).some(({ instance }) => instance === id)
}

/**
 * The alert for an instance that appeared without this Berth. Machines that bear the mark of another Berth are one group:
 * whoever rents from two computers is told once, and finds the others in Activity. A mark proves nothing, since whoever has
 * a key can set one, so the first is told each time Berth runs.
 */
function elsewhereAlert(account: AccountView, instance: InstanceView): Alert {
  // One that boots costs its full price in a moment.
  const cost = instance.costUnknown
    ? 'The service doesn’t say what it costs'
    : `It costs ${rate(costOnceReady(instance))}`
  const about = { id: `${account.id}/${instance.id}/elsewhere`, instance: instance.id }
  const name = shortInstanceName(instance)
  if (instance.mark === undefined)
    return alertOf('rentedElsewhere', {
      ...about,
      title: `${name} was rented elsewhere`,
      body: `${cost}, and it has no limit here. If neither you nor a program of yours rented it, replace your API keys.`,
    })
  return alertOf('rentedElsewhere', {
    ...about,
    group: 'another Berth',
    title: `${name} was rented by another Berth`,
    body:
      `${cost}, and its limits are on that computer. If you have no other Berth, replace your API keys. ` +
      'Further ones are only in Activity.',
  })
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

/** Whether an alert still applies, as far as a poll can tell. */
export function stillHolds(alert: Alert, account: AccountView, alerted: AlertedState): boolean {
  const { kind, instance, state } = alert
  if (kind === 'lowCredit') return alerted.lowCredit || alerted.belowZero === true
  if (instance === undefined) return true
  if (state !== undefined) return account.instances[instance]?.state === state
  return warningHolds(alert, alerted.warned ?? {}, account)
}
