import { expect, test } from 'vitest'
import { creditLasts, spendOnceReady } from '#contract/reading.ts'
import { accountView, instanceView } from '../views.ts'

test('spending and credit duration count a booting instance at its full price', () => {
  const running = instanceView({ id: 1, costPerHour: 1_000_000, pricePerHour: 1_000_000 })
  const booting = instanceView({ id: 2, state: 'loading', costPerHour: 6000, pricePerHour: 2_528_000 })
  const account = accountView({ credit: 3_528_000 }, running, booting)
  expect(spendOnceReady(account)).toBe(3_528_000)
  expect(creditLasts(account, spendOnceReady(account))).toBe(3600)
  expect(spendOnceReady(accountView({}, running))).toBe(1_000_000)
})
