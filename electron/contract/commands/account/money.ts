import * as v from 'valibot'
import type { MoneyHistory } from '../../spending/history.ts'
import { account, command } from '../command.ts'

/** What was spent, and how the credit went. */
export const moneyCommands = {
  /** From a moment on (epoch seconds of the account's time), at most so many samples of one length; and the last days. */
  moneyHistory: command({
    account,
    from: v.pipe(v.number(), v.finite(), v.minValue(0)),
    samples: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5000)),
    days: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5000)),
  }).answers<MoneyHistory>(),
  /** A table as CSV, amounts in dollars to the last micro-dollar: by day, by day and instance, or every five minutes. */
  spendingTable: command({
    account,
    rows: v.picklist(['days', 'models', 'instances', 'samples']),
  }).answers<string>(),
}
