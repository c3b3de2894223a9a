import * as v from 'valibot'
import type { Question } from '../deletions.ts'
import { creditBy, isContractOver } from '../derived.ts'
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

/** What destroying them does with what is prepaid. */
export function paidBackWords(instances: readonly InstanceView[]): string {
  const left = instances.reduce((sum, { prepaid }) => sum + (prepaid?.left ?? 0), 0)
  return `Of the ${money(left)} prepaid that is left, the service keeps the discount so far and a fee of 5% of that; the rest is paid back.`
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
  const budgets = Object.values(account.limits).flatMap(({ when }) =>
    when.kind === 'budget' && micros(when.dollars) <= sum ? [when.per] : [],
  )
  const lasts = months === undefined ? '' : `. It’s for ${monthsWords(months)} of running`
  const most = mostDiscount === undefined ? '' : `, ${percent(mostDiscount * 100)} at most`
  const lines = [
    credit !== undefined &&
      sum > credit &&
      `Your credit is ${money(credit)}, so the service will probably refuse it.`,
    `${money(sum)} leaves your credit now${lasts}, and counts as spent today.`,
    ...budgets.map(per => `Your budget for the ${per} is less than that, so its limit stops your instances.`),
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
