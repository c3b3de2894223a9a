import type { Micros } from './money.ts'

/** What the credit was at a moment of the account's time, in epoch seconds. */
export interface CreditSample {
  at: number
  credit: Micros
}
