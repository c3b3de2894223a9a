import { expect, test } from 'vitest'
import { RequestTimes } from '#core/endings/request-times.ts'
import { HandClock } from '#test/berth/clocks.ts'

test('only a poll that began after the last answer shows its effect, after a restart any', async () => {
  const clock = new HandClock()
  const times = new RequestTimes(clock)
  expect(times.isShownBy(7, clock.monotonic())).toBe(true)
  times.expect(7)
  expect(times.isShownBy(7, clock.monotonic() + 1000)).toBe(false)
  await clock.pass(1000)
  times.answered(7)
  const answered = clock.monotonic()
  expect([times.isShownBy(7, answered - 1), times.isShownBy(7, answered)]).toEqual([false, true])
  expect([times.isFirst(7), times.isFirst(8)]).toEqual([false, true])
})

test('an ending lasts from when this Berth began with it, and a new one of the instance from then', async () => {
  const clock = new HandClock()
  const times = new RequestTimes(clock)
  const stop = { instance: 7, since: 100 } as Parameters<RequestTimes['lasted']>[0]
  expect(times.lasted(stop)).toBe(0)
  await clock.pass(5000)
  expect([times.lasted(stop), times.lasted({ ...stop, since: 105 })]).toEqual([5000, 0])
})
