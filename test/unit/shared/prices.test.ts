import { expect, test } from 'vitest'
import { firstBid } from '#shared/automation/bid.ts'
import { creditLasts, isCreditLow, knownSpent } from '#shared/derived.ts'
import { forecast } from '#shared/spending/forecast.ts'
import { increasedRate } from '#shared/spending/price-increase.ts'
import { costOf, costWords, spendWords } from '#shared/spending/spend-words.ts'
import { accountView, instanceView } from '../views.ts'

test('the first bid is a fifth above the lowest bid, and at most $128', () => {
  expect(firstBid(300_000)).toBe(0.36)
  expect(firstBid(10_000)).toBe(0.012)
  expect(firstBid(undefined)).toBe(0.001)
  expect(firstBid(40_000_000)).toBe(48)
  expect(firstBid(127_999_000)).toBe(128)
  expect(firstBid(200_000_000)).toBe(128)
})

const instance = instanceView({
  pricePerHour: 1_000_000,
  gpu: { name: 'H100', count: 4 },
  disk: { size: 720 },
})
const gpu = { before: 0.2, after: 0.3 }
const disk = { before: 0.1, after: 0.15 }

test.each([
  ['of each GPU', { gpu }, 1_400_000],
  ['of each GB of the disk and month', { disk }, 1_050_000],
  ['of both', { gpu, disk }, 1_450_000],
])('the new hourly price follows from the prices %s', (_, changes, after) => {
  expect(increasedRate({ id: 1, instance: 4711, ...changes }, instance)).toEqual({ before: 1_000_000, after })
})

test('no new hourly price is given for bids, unknown prices or traffic', () => {
  const ask = { id: 1, instance: 4711, gpu }
  expect(increasedRate(ask, { ...instance, interruptible: true })).toBeUndefined()
  expect(increasedRate({ ...ask, gpu: { after: 0.3 } }, instance)).toBeUndefined()
  expect(increasedRate({ id: 1, instance: 4711, upload: disk }, instance)).toBeUndefined()
  expect(increasedRate(ask, instanceView({ gpu: { name: 'H100', count: 4 } }))).toBeUndefined()
})

const unseen = instanceView({
  id: 7,
  costPerHour: 0,
  costUnknown: true,
  spent: { micros: 0, at: 0, perHour: 0 },
})
const known = instanceView({ id: 8, costPerHour: 400_000 })

test('an unknown cost is called unknown, never nothing', () => {
  expect(spendWords(accountView({}, unseen))).toBe('unknown')
  expect(spendWords(accountView({}, unseen, known))).toBe('at least $0.400/h')
  expect(costWords(unseen)).toBe('cost unknown')
  expect(costOf([unseen])).toBe('an unknown amount')
  expect(costOf([unseen, known])).toBe('at least $0.400/h')
  expect(knownSpent(unseen, 3600)).toBeUndefined()
  expect(knownSpent({ ...unseen, spent: { micros: 5, at: 0, perHour: 0 } }, 3600)).toBe(5)
})

test('how long the credit lasts is unknown with a part of the spending, and a warning goes by the rest', () => {
  const account = accountView({ credit: 1_000_000 }, unseen, known)
  expect(creditLasts(account)).toBeUndefined()
  expect(forecast(account, 0)).toBeUndefined()
  expect(isCreditLow(account, { lowCreditDollars: 0, lowCreditHours: 6 })).toBe(true)
})
