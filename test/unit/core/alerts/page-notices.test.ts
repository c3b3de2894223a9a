import { expect, test } from 'vitest'
import { isQuiet, summary } from '#core/alerts/page-notices.ts'

const minute = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const hours = (from: string, to: string, on = true) => ({ on, from, to, critical: true })

test.each([
  ['22:00', '07:00', '21:59', false],
  ['22:00', '07:00', '22:00', true],
  ['22:00', '07:00', '00:00', true],
  ['22:00', '07:00', '06:59', true],
  ['22:00', '07:00', '07:00', false],
  ['12:00', '13:00', '12:30', true],
  ['12:00', '13:00', '13:00', false],
  ['09:00', '09:00', '09:00', false],
])('from %s to %s it is quiet at %s: %s', (from, to, now, quiet) => {
  expect(isQuiet(hours(from, to), minute(now))).toBe(quiet)
  expect(isQuiet(hours(from, to, false), minute(now))).toBe(false)
})

test('a summary names some and counts the rest', () => {
  expect(summary([])).toBeUndefined()
  expect(summary(['a', 'b'])).toEqual({ title: '2 alerts during quiet hours', body: 'a. b.' })
  expect(summary(['a', 'b', 'c', 'd', 'e', 'f'])?.body).toBe('a. b. c. d. And 2 more.')
})
