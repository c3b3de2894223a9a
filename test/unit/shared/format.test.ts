import { expect, test } from 'vitest'
import { briefMoney, money, rate, trafficBriefly, trafficWords } from '#shared/format/money.ts'
import { instanceName, named, shortInstanceName } from '#shared/format/name.ts'
import { counted, diskRoom, figure, gigabits, reliability } from '#shared/format/size.ts'
import {
  ago,
  atMoment,
  countdown,
  duration,
  moment,
  roughDuration,
  timeOfDay,
  weekdayAndTime,
} from '#shared/format/time.ts'
import { speeds } from '#shared/market/offer-words.ts'
import { withoutMiddle } from '#shared/text.ts'

test('money has a dollar sign, and a debt a minus', () => {
  expect(money(48_200_000)).toBe('$48.20')
  expect(money(1_234_567_890)).toBe('$1,234.57')
  expect(money(-1_500_000)).toBe('−$1.50')
  expect(money(-1000)).toBe('$0.00')
  expect([0, 100, 2000, 4999, 5000].map(money)).toEqual([
    '$0.00',
    'under $0.001',
    '$0.002',
    '$0.005',
    '$0.01',
  ])
  expect([0, 100, 2000].map(briefMoney)).toEqual(['$0.00', '<$0.001', '$0.002'])
})

test('a price per hour has a tenth of a cent', () => {
  const rates = [2_140_000, 1_050_000, 6000, 0, -20_000].map(rate)
  expect(rates.join(' ')).toBe('$2.140/h $1.050/h $0.006/h $0.000/h −$0.020/h')
})

test('a disk’s size is rounded down to whole GB', () => {
  expect([535.9, 1998.2, 0.4].map(diskRoom)).toEqual(['535 GB', '1,998 GB', '0 GB'])
})

test('a duration is given in its two largest units', () => {
  const durations = [63_900, 93_600, 3600, 59.9, 61, 0, -5].map(duration)
  expect(durations.join(', ')).toBe('17 h 45 min, 1 d 2 h, 1 h, 59 s, 1 min, 0 s, 0 s')
})

test('an age is given in words', () => {
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

test('a reliability below 1 is never shown as 100%', () => {
  expect([1, 0.9999, 0.997].map(reliability)).toEqual(['100%', '99.9%', '99.7%'])
})

test('a list shows twelve names and a count; a single one left over is named', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `#${at + 1}`)
  expect(named(names(3))).toBe('#1, #2 and #3')
  expect(named(names(13))).toMatch(/, #12 and #13$/)
  expect(named(names(14))).toMatch(/, #12 and 2 more$/)
})

test('the traffic price is given each way, zero as free, unknown as nothing', () => {
  expect(trafficWords({ downCost: 0.01, upCost: 0.02 })).toBe('$0.010/GB down, $0.020/GB up')
  expect(trafficWords({ downCost: 0, upCost: 0.005 })).toBe('free down, $0.005/GB up')
  expect(trafficWords({ upCost: 0.0002 })).toBe('$0.0002/GB up')
  expect(trafficBriefly({ downCost: 0.01, upCost: 0.02 })).toBe('$0.010 / $0.020')
  expect(trafficBriefly({ downCost: 0.01, upCost: 0.01 })).toBe('$0.010')
  expect(trafficBriefly({ downCost: 0.005, upCost: 0 })).toBe('$0.005 / free')
  for (const words of [trafficWords, trafficBriefly]) {
    expect(words({ downCost: 0, upCost: 0 })).toBe('free')
    expect(words({})).toBeUndefined()
  }
})

test('all networks are told in Gb/s, slow ones with more digits', () => {
  expect([2900, 410, 90, 4].map(gigabits)).toEqual(['2.9', '0.4', '0.09', '0.004'])
  expect(speeds(5000, 90)).toBe('5.0 Gb/s down, 0.09 Gb/s up')
  expect(speeds(672, undefined)).toBe('0.7 Gb/s down, – up')
  expect(speeds(undefined, undefined)).toBeUndefined()
})

test.each([
  [900, '15:00'],
  [61.2, '1:02'],
  [0.4, '0:01'],
  [-3, '0:00'],
])('%d seconds count down as %s', (seconds, text) => expect(countdown(seconds)).toBe(text))

test('a short list ends in “and” or in the given word', () => {
  expect([[], ['a'], ['a', 'b']].map(names => named(names))).toEqual(['', 'a', 'a and b'])
  expect(named(['a', 'b', 'c'], { last: ' or ' })).toBe('a, b or c')
  expect(named(['a', 'b', 'c', 'd', 'e'], { most: 3 })).toBe('a, b, c and 2 more')
})

test('a number is grouped, and has at most the given digits', () => {
  expect([figure(1998.04, 1), figure(98.5, 4), figure(0.25, 0)]).toEqual(['1,998', '98.5', '0'])
  expect([counted(1, 'file'), counted(2000, 'file')]).toEqual(['1 file', '2,000 files'])
  expect(counted(2, 'try', 'tries')).toBe('2 tries')
})

test('a rough duration is given in one unit', () => {
  const durations = [30, 320, 3599, 3600 * 17.9, 86_400 * 5.2].map(roughDuration)
  expect(durations.join(', ')).toBe('under 5 min, 5 min, 55 min, 17 h, 5 d')
})

const local = (...at: [number, number, number, number, number]) => new Date(...at).getTime() / 1000

test('a moment shows its day unless today, and its year unless this year', () => {
  const now = local(2026, 10, 21, 23, 50)
  expect(moment(local(2026, 10, 21, 18, 0), now)).toBe('18:00')
  expect(moment(local(2026, 10, 22, 0, 5), now)).toBe('Sun 22 Nov, 00:05')
  expect(moment(local(2027, 0, 3, 9, 30), now)).toBe('Sun 3 Jan 2027, 09:30')
  expect(atMoment(local(2026, 10, 21, 18, 0), now)).toBe('at 18:00')
  expect(atMoment(local(2026, 10, 22, 0, 5), now)).toBe('on Sun 22 Nov, 00:05')
  expect(timeOfDay(local(2026, 10, 21, 0, 5))).toBe('00:05')
  expect(weekdayAndTime(local(2026, 10, 21, 18, 0))).toBe('Sat 18:00')
})

test('an instance is named by its label, else its GPU, and always by its number', () => {
  expect(instanceName({ id: 4711, label: 'llama', gpu: { name: 'RTX 4090' } })).toBe('llama #4711')
  expect(instanceName({ id: 4711, label: '', gpu: { name: 'RTX 4090' } })).toBe('RTX 4090 #4711')
  expect(instanceName({ id: 4711, label: null })).toBe('Instance #4711')
})

test('where there is little room a long label is cut, and the number stays', () => {
  expect(shortInstanceName({ id: 4711, label: 'x'.repeat(32) })).toBe(`${'x'.repeat(32)} #4711`)
  expect(shortInstanceName({ id: 4711, label: 'x'.repeat(126) })).toBe(`${'x'.repeat(31)}… #4711`)
  expect(shortInstanceName({ id: 4711, gpu: { name: 'RTX 4090' } })).toBe('RTX 4090 #4711')
})

test('a long name is cut in its middle, by letters as a reader counts them', () => {
  expect(withoutMiddle('train #7', 8)).toBe('train #7')
  expect(withoutMiddle('an-experiment-with-many-settings-run-17 #22922164', 24)).toBe(
    'an-experime…17 #22922164',
  )
  expect(withoutMiddle('👩‍🚀'.repeat(9), 5)).toBe('👩‍🚀👩‍🚀…👩‍🚀👩‍🚀')
})
