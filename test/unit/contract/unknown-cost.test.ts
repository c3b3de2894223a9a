import { expect, test } from 'vitest'
import { creditLasts, isCreditLow, knownSpent } from '#contract/reading.ts'
import { forecast } from '#contract/spending/forecast.ts'
import { costOf, costWords, spendWords } from '#contract/spending/spend-words.ts'
import { accountView, instanceView } from '../views.ts'

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
