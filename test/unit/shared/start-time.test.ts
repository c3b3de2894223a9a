import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { readSpec } from '#core/projects/read-spec.ts'
import { planAfterwards } from '#shared/project/afterwards.ts'
import { nextStart } from '#shared/project/start-time.ts'

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

const at = (text: string) => Date.parse(text) / 1000

test('a run begins at the next moment at which clocks here show the time', () => {
  process.env['TZ'] = 'Europe/Berlin'
  expect(nextStart('02:00', at('2026-07-01T10:00:00Z'))).toBe(at('2026-07-02T00:00:00Z'))
  expect(nextStart('daily 14:30', at('2026-07-01T10:00:00Z'))).toBe(at('2026-07-01T12:30:00Z'))
  // At the very time it is the next day's.
  expect(nextStart('2:00', at('2026-07-02T00:00:00Z'))).toBe(at('2026-07-03T00:00:00Z'))
  // The clocks skip from 2 to 3 on 29 March 2026, and show 2:30 twice on 25 October.
  expect(nextStart('02:30', at('2026-03-28T12:00:00Z'))).toBe(at('2026-03-29T01:30:00Z'))
  expect(nextStart('02:30', at('2026-10-24T12:00:00Z'))).toBe(at('2026-10-25T00:30:00Z'))
  expect(nextStart('02:30', at('2026-10-25T00:30:00Z'))).toBe(at('2026-10-26T01:30:00Z'))
})

test('that is within a day and an hour, once a day, wherever it is', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'Pacific/Chatham',
  ]
  const minute = fc.integer({ min: 0, max: 1439 })
  const second = fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') })
  fc.assert(
    fc.property(fc.constantFrom(...zones), minute, second, (where, minutes, now) => {
      process.env['TZ'] = where
      const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
      const start = `${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
      const next = nextStart(start, now)
      expect(next).toBeGreaterThan(now)
      expect(next - now).toBeLessThanOrEqual(25 * 3600)
      const shown = new Date(next * 1000)
      const late = (shown.getHours() * 60 + shown.getMinutes() - minutes + 1440) % 1440
      // Half an hour or an hour where a change of the clocks skips it.
      expect([0, 30, 60]).toContain(late)
      expect(nextStart(start, next) - next).toBeGreaterThanOrEqual(23 * 3600)
    }),
    { numRuns: 300 },
  )
})

test('the plan says when, and a start is for one run on one machine', () => {
  const read = (text: string) => readSpec(`run: python train.py\n${text}`)
  const words = (text: string) => {
    const spec = read(text)
    if ('problems' in spec) throw new Error('It is not valid.')
    return planAfterwards(spec.spec, { seconds: 60, destroys: false }, undefined).join(' ')
  }
  expect(words('start: 02:00')).toContain('It begins at 02:00, while Berth runs.')
  expect(words('start: daily 23:15')).toContain(
    'at 23:15 every day until you cancel it. The highest cost is that of one day',
  )
  for (const wrong of [
    'start: 25:00',
    'start: tomorrow',
    'start: 02:00\nruns: 2',
    'start: 02:00\nsweep: { lr: [1] }',
  ])
    expect(read(wrong)).toMatchObject({
      problems: [expect.objectContaining({ message: expect.stringContaining('start') })],
    })
})
