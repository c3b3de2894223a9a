import { expect, test } from 'vitest'
import { aQuarterMore, offerBidWords, withinWords } from '#renderer/screens/offers/rent/limitsForm.svelte.ts'

test('a limit starts a quarter above the price, rounded up to the cent', () => {
  expect(aQuarterMore(1_000_000)).toBe(1.25)
  expect(aQuarterMore(47_000)).toBe(0.06)
})

test('the count of offers within a price limit is given, also for none', () => {
  expect(withinWords(9, 2844, 10_000)).toBe('9 of 2,844 cost at most that')
  expect(withinWords(1, 12, 10_000)).toBe('1 of 12 cost at most that')
  expect(withinWords(0, 12, 1_620_000)).toBe('none right now; the cheapest is $1.620/h')
  expect(withinWords(0, 12, undefined)).toBe('the service reports no prices, so Berth rents none')
})

test('a bid counts only offers with a known, lower lowest bid', () => {
  const lowest = [100_000, 200_000, 300_000, undefined]
  expect(offerBidWords(lowest, '0.2')).toBe('1 of 4 have a minimum below that')
  expect(offerBidWords(lowest, '0,201')).toBe('2 of 4 have a minimum below that')
  expect(offerBidWords(lowest, '0.1')).toBe('none has a minimum below that')
  expect(offerBidWords(lowest, '')).toBe('none has a minimum below that')
})
