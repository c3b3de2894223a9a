import { expect, test } from 'vitest'
import { highBid } from '../../../../renderer/words/highBid.ts'
import { named } from '../../../../renderer/words/list.ts'
import { money, rate, trafficBriefly, trafficWords } from '../../../../renderer/words/money.ts'
import { diskRoom, reliability } from '../../../../renderer/words/size.ts'
import { stateWords } from '../../../../renderer/words/state.ts'
import { ago, duration } from '../../../../renderer/words/time.ts'

test('money carries its unit, and a debt its sign', () => {
  expect(money(48_200_000)).toBe('$48.20')
  expect(money(1_234_567_890)).toBe('$1,234.57')
  expect(money(-1_500_000)).toBe('−$1.50')
  expect(money(-1000)).toBe('$0.00')
})

test('a price per hour reads the same everywhere, to a tenth of a cent', () => {
  expect([2_140_000, 1_050_000, 6000, 0, -20_000].map(rate)).toEqual([
    '$2.140/h',
    '$1.050/h',
    '$0.006/h',
    '$0.000/h',
    '−$0.020/h',
  ])
})

test('a disk has no more room than can be rented of it', () => {
  expect([535.9, 1998.2, 0.4].map(diskRoom)).toEqual(['535 GB', '1,998 GB', '0 GB'])
})

test('a length of time is said in its two largest units', () => {
  expect([63_900, 93_600, 3600, 59.9, 61, 0, -5].map(duration)).toEqual([
    '17 h 45 min',
    '1 d 2 h',
    '1 h',
    '59 s',
    '1 min',
    '0 s',
    '0 s',
  ])
})

test('an age is said in words', () => {
  const day = 86_400
  expect([2, 30, 60, 185, 7200, 200_000, 60 * day, 61 * day, 730 * day, 900 * day].map(ago)).toEqual([
    'just now',
    '30 seconds ago',
    '1 minute ago',
    '3 minutes ago',
    '2 hours ago',
    '2 days ago',
    '60 days ago',
    '2 months ago',
    '23 months ago',
    '2 years ago',
  ])
})

test('a state that is not known is shown by its own word, cut short', () => {
  expect(stateWords('other', 'frozen').word).toBe('Frozen')
  expect(stateWords('other', 'x'.repeat(500)).word).toHaveLength(24)
  expect(stateWords('other', null).word).toBe('Unknown')
  expect(stateWords('running', 'running')).toEqual({ word: 'Running', shape: 'running' })
})

test('nothing short of certain is called 100 %', () => {
  expect([1, 0.9999, 0.997].map(reliability)).toEqual(['100 %', '99.9 %', '99.7 %'])
})

test('a bid far above the lowest is doubted, by how many times it is', () => {
  expect(highBid(31_800_000, 42_000)).toBe('That is 757 × the lowest bid of $0.042/h. You pay what you bid.')
  expect(highBid(126_000, 42_000)).toBeUndefined()
  expect(highBid(130_000, 42_000)).toContain('3.1 ×')
  expect(highBid(130_000, undefined)).toBeUndefined()
})

test('many names in a sentence are the first twelve and how many more; one that would be left is named', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `#${at + 1}`)
  expect(named(names(3))).toBe('#1, #2, #3')
  expect(named(names(13))).toMatch(/, #13$/)
  expect(named(names(14))).toMatch(/, #12 and 2 more$/)
})

test('the price of traffic is said each way, free as free, and not at all where it is not told', () => {
  expect(trafficWords({ downCost: 0.01, upCost: 0.02 })).toBe('$0.010/GB down, $0.020/GB up')
  expect(trafficWords({ upCost: 0.0002 })).toBe('$0.0002/GB up')
  expect(trafficBriefly({ downCost: 0.01, upCost: 0.02 })).toBe('$0.010 / $0.020')
  expect(trafficBriefly({ downCost: 0.01, upCost: 0.01 })).toBe('$0.010')
  expect([trafficWords({ downCost: 0, upCost: 0 }), trafficBriefly({ downCost: 0, upCost: 0 })]).toEqual([
    'free',
    'free',
  ])
  expect([trafficWords({}), trafficBriefly({})]).toEqual([undefined, undefined])
})
