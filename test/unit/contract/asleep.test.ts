import { expect, test } from 'vitest'
import { includesPart, watchdogPart, withoutPart, withPart } from '#contract/automation/asleep.ts'

const timed = { when: { kind: 'time', at: 5000.2 }, setAt: 0, action: 'stop' } as const
const idle = { when: { kind: 'idle', below: 5, seconds: 600 }, setAt: 0, action: 'stop' } as const

test('a snooze moves a watchdog’s time, and takes an idle limit off the watchdog', () => {
  expect(watchdogPart(timed)).toEqual({ action: 'stop', at: 5001 })
  expect(watchdogPart({ ...timed, snoozedUntil: 9000 })).toEqual({ action: 'stop', at: 9000 })
  expect(watchdogPart({ ...idle, snoozedUntil: 9000 })).toBeUndefined()
})

test('a limit’s part is added to a watchdog request and removed, and the rest stays', () => {
  const lease = { action: 'stop', lease: 60 } as const
  const part = { action: 'stop', at: 5001 } as const
  const request = withPart(lease, part)
  expect(request).toEqual({ action: 'stop', lease: 60, at: 5001 })
  expect(includesPart(request, part)).toBe(true)
  expect(includesPart(request, { ...part, at: 5002 })).toBe(false)
  expect(includesPart(request, { ...part, action: 'destroy' })).toBe(false)
  expect(withoutPart(request, part)).toEqual(lease)
  expect(withoutPart(part, part)).toBeUndefined()
})
