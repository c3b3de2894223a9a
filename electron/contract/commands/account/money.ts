import * as v from 'valibot'
import type { MoneyHistory } from '#contract/spending/history.ts'
import { account, command } from '../command.ts'

/** The history of spending and credit. */
export const moneyCommands = {
  /** At most `samples` samples of equal length since `from` (epoch seconds, account time), and the last `days`. */
  moneyHistory: command({
    account,
    from: v.pipe(v.number(), v.finite(), v.minValue(0)),
    samples: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5000)),
    days: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5000)),
  }).answers<MoneyHistory>(),
  /** A CSV table by day, by day and model or instance, or every five minutes. Exact amounts in dollars. */
  spendingTable: command({
    account,
    rows: v.picklist(['days', 'models', 'instances', 'samples']),
  }).answers<string>(),
}
