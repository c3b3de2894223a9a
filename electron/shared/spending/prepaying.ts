import * as v from 'valibot'
import { hasEnded } from '../automation/limit.ts'
import { stopperWords, whenWords } from '../automation/limit-words.ts'
import { stoppersOf } from '../automation/limits-that-block.ts'
import type { Question } from '../deletions.ts'
import { creditBy, isContractOver, spentBy } from '../derived.ts'
import { money, rate } from '../format/money.ts'
import { instanceName } from '../format/name.ts'
import { percent } from '../format/size.ts'
import type { InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import type { AccountView } from '../state.ts'
import { type Micros, micros } from './money.ts'

/** What is paid ahead for an instance, in dollars. */
export const PrepaidAmount = v.pipe(
  v.number('enter an amount'),
  v.minValue(1, 'at least $1'),
  v.maxValue(100_000, 'at most $100,000'),
)

/** What the service made of a prepayment: the months it is for, and the discount from now on, 0 to 1. */
export interface Prepaid {
  months: number
  discount: number
}

/** Micro-dollars: what destroying the instance pays back now, and what the discount has saved so far. */
export interface Deposit {
  refundable: Micros
  saved: Micros
}

/** Hours of the service's months. */
const monthHours = 720

/** The months for which an amount pays, at the instance's price without a discount; undefined while that is unknown. */
export function monthsPaid(amount: number, { pricePerHour, prepaid }: InstanceView): number | undefined {
  if (!pricePerHour) return undefined
  const full = pricePerHour / (1 - Math.min(prepaid?.discount ?? 0, 0.9))
  return micros(amount) / (full * monthHours)
}

/** Whether the service takes a prepayment for it: on-demand only, where its host gives a discount. */
export function canPrepay({ capabilities }: AccountView, instance: InstanceView, now: number): boolean {
  const { interruptible, mostDiscount, state } = instance
  const isOver = isContractOver(instance, now) || hasTrait(state, 'dead')
  return capabilities.prepays && !interruptible && mostDiscount !== 0 && !isOver
}

/** `about 1.3 months`, `about 9 days`. */
export function monthsWords(months: number): string {
  const rounded = Math.round(months * 10) / 10
  if (rounded >= 1) return rounded === 1 ? 'about a month' : `about ${rounded} months`
  const days = months * 30
  return days >= 1 ? `about ${Math.round(days)} days` : `about ${Math.max(1, Math.round(days * 24))} hours`
}

/** Of what the discount has saved: the service keeps it besides, where the instance is destroyed. */
const fee = 0.05

/**
 * What destroying them does with what is prepaid; empty where nothing is. The discount so far is at most that of all the
 * instance has cost: some of it may have been before the prepayment.
 */
export function paidBackWords(instances: readonly InstanceView[], now: number): string[] {
  const left = instances.reduce((sum, { prepaid }) => sum + (prepaid?.left ?? 0), 0)
  const kept = instances.reduce((sum, instance) => sum + mostKept(instance, now), 0)
  if (left === 0) return []
  return [
    `Of the ${money(left)} prepaid that is left, the service keeps up to ${money(kept)}: the discount so far and a fee of ` +
      `${percent(fee * 100)} of that. The rest is paid back.`,
  ]
}

function mostKept(instance: InstanceView, now: number): Micros {
  const { left, discount } = instance.prepaid ?? { left: 0, discount: 0 }
  if (instance.costUnknown) return left
  const saved = (spentBy(instance, now) * discount) / (1 - Math.min(discount, 0.9))
  return Math.min(left, Math.ceil(saved * (1 + fee)))
}

/** The limits that end its running before what is prepaid is used up, or perhaps. `until`: when it would be. */
function earlierEnds({ limits }: AccountView, { id }: InstanceView, until: number, now: number): string[] {
  return Object.values(limits)
    .filter(limit => limit.instance === id && !hasEnded(limit) && (limit.dueAt ?? 0) < until)
    .map(limit => {
      const does = limit.action === 'stop' ? 'stops' : 'destroys'
      const perhaps = limit.dueAt === undefined ? 'perhaps ' : ''
      return `A limit ${does} it ${whenWords(limit, now)}, ${perhaps}before this is used up.`
    })
}

/** Always asked: the money leaves the credit at once. */
export function prepayQuestion(
  account: AccountView,
  { instance, amount }: { instance: InstanceView; amount: number },
  now: number,
): Question {
  const credit = creditBy(account, now)
  const sum = micros(amount)
  const months = monthsPaid(amount, instance)
  const { mostDiscount, prepaid, pricePerHour = 0 } = instance
  // What is prepaid isn't spent before it is used, so budgets don't count it, but the credit lasts less long.
  const after = credit === undefined ? account : { ...account, credit: credit - sum, creditAt: now }
  const stoppers = stoppersOf(after, { instance: instance.id, more: 0 }, now)
  const lasts = months === undefined ? '' : `. It’s for ${monthsWords(months)} of running`
  const most = mostDiscount === undefined ? '' : `, ${percent(mostDiscount * 100)} at most`
  const lines = [
    credit !== undefined &&
      sum > credit &&
      `Your credit is ${money(credit)}, so the service will probably refuse it.`,
    `${money(sum)} leaves your credit now${lasts}, and counts as spent as it’s used.`,
    ...stoppers.filter(({ when }) => when.kind === 'credit').map(stopperWords),
    ...earlierEnds(account, instance, now + (months ?? 0) * monthHours * 3600, now),
    prepaid
      ? `The service works its discount out anew: it’s ${percent(prepaid.discount * 100)} now, and a small amount can lower it.`
      : `Its price of ${rate(pricePerHour)} then falls by a discount that the service decides${most}.`,
    'You can’t get it back or use it elsewhere. Only if you destroy the instance, what is left is paid back, ' +
      'less the discount so far and a fee.',
  ]
  return {
    title: `Prepay ${instanceName(instance)}?`,
    verb: `Prepay ${money(sum)}`,
    lines: lines.filter(line => line !== false),
    grave: true,
  }
}
