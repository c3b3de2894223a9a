import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sleep } from '#platform/tasks.ts'
import { Pacer, thresholdIn } from '#service/http/pacing.ts'
import { HandClock } from '#test/berth/clocks.ts'

/** The service's own limit (section 8): `max(1, threshold)` at once, refilled at `threshold` a second. */
class ServiceBucket {
  readonly #threshold: number
  #tokens: number
  #at = 0

  constructor(threshold: number) {
    this.#threshold = threshold
    this.#tokens = Math.max(1, threshold)
  }

  allows(now: number): boolean {
    this.#tokens = Math.min(
      Math.max(1, this.#threshold),
      this.#tokens + ((now - this.#at) / 1000) * this.#threshold,
    )
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}

/** Milliseconds on a clock that has not moved yet. */
const began = new HandClock().monotonic()

const section8: [string, number][] = [
  ['PUT /api/v0/instances/bid_price/{id}/', 5.5],
  ['PUT /api/v0/machines/{id}/cleanup', 8],
  ['POST /api/v0/auth/apikeys/', 2],
  ['GET /api/v0/auth/apikeys/', 1],
  ['PUT /api/v0/commands/copy_direct/', 3.5],
  ['DELETE /api/v0/commands/copy_direct/', 3.5],
]

const trip = fc.record({
  start: fc.integer({ min: 0, max: 3000 }),
  there: fc.integer({ min: 0, max: 800 }),
  back: fc.integer({ min: 0, max: 800 }),
})

test.each(section8)(
  '%s stays under %d a second from the first call, however slow the network',
  async (endpoint, threshold) => {
    await fc.assert(
      fc.asyncProperty(fc.array(trip, { minLength: 1, maxLength: 30 }), async trips => {
        const clock = new HandClock()
        const pacer = new Pacer(clock)
        const service = new ServiceBucket(threshold)
        const requests = trips.map(async ({ start, there, back }) => {
          await sleep(clock, start)
          const answered = await pacer.turn(endpoint, undefined)
          await sleep(clock, there)
          expect(service.allows(clock.monotonic())).toBe(true)
          await sleep(clock, back)
          answered()
        })
        await clock.runUntil(Promise.all(requests))
      }),
      { numRuns: 40 },
    )
  },
)

test('calls leave in the order they were made', async () => {
  const clock = new HandClock()
  const pacer = new Pacer(clock)
  const left: number[] = []
  const calls = [1, 2, 3, 4, 5].map(async call => {
    const answered = await pacer.turn('GET /api/v0/auth/apikeys/', undefined)
    left.push(call)
    answered()
  })
  await clock.runUntil(Promise.all(calls))
  expect(left).toEqual([1, 2, 3, 4, 5])
  expect(clock.monotonic() - began).toBeGreaterThanOrEqual(4000)
})

test('a call cancelled in the queue leaves it, and later calls move up', async () => {
  const clock = new HandClock()
  const pacer = new Pacer(clock)
  const endpoint = 'GET /api/v0/auth/apikeys/'
  const cancel = new AbortController()
  const first = await pacer.turn(endpoint, undefined)
  const second = pacer.turn(endpoint, cancel.signal)
  const third = pacer.turn(endpoint, undefined)
  cancel.abort()
  await expect(second).rejects.toThrow()
  first()
  await clock.runUntil(third)
  expect(clock.monotonic() - began).toBeLessThan(2000)
})

test('an endpoint without a known threshold is not delayed', async () => {
  const clock = new HandClock()
  const pacer = new Pacer(clock)
  for (let call = 0; call < 100; call++) await pacer.turn('GET /api/v0/instances/', undefined)
  expect(clock.waiting).toEqual([])
})

test('one endpoint’s queue does not delay another', async () => {
  const clock = new HandClock()
  const pacer = new Pacer(clock)
  await pacer.turn('GET /api/v0/auth/apikeys/', undefined)
  await pacer.turn('POST /api/v0/auth/apikeys/', undefined)
  expect(clock.waiting).toEqual([])
})

test.each([1e-7, 1 / 61, 61, 1001, Number.MAX_VALUE])(
  'a 429 with the implausible threshold %d counts as one without',
  async threshold => {
    const pacer = new Pacer(new HandClock())
    expect(pacer.tooFast('GET /api/v0/instances/', threshold)).toBeCloseTo(1 / 0.9)
  },
)

test.each([
  [5.5, 5.5],
  [1, 1],
  [0.5, 2],
  [0.1, 10],
])('a threshold of %d is kept in both its meanings: one request in %d s', (threshold, seconds) => {
  const pacer = new Pacer(new HandClock())
  expect(pacer.tooFast('GET /api/v0/template/', threshold)).toBeCloseTo(seconds / 0.9)
})

test('an endpoint that asks for a wait rests that long, at most a minute', async () => {
  const clock = new HandClock()
  const pacer = new Pacer(clock)
  const endpoint = 'GET /api/v0/template/'
  const call = async () => (await pacer.turn(endpoint, undefined))()
  pacer.tooFast(endpoint, undefined, 40)
  await clock.runUntil(call())
  expect(clock.monotonic() - began).toBeGreaterThanOrEqual(40_000)
  pacer.tooFast(endpoint, undefined, 1e9)
  const asked = clock.monotonic()
  await clock.runUntil(call())
  expect(clock.monotonic() - asked).toBeGreaterThanOrEqual(60_000)
  expect(clock.monotonic() - asked).toBeLessThan(62_000)
})

test('a 429 on renting causes a wait of twelve seconds', () => {
  const pacer = new Pacer(new HandClock())
  expect(pacer.tooFast('PUT /api/v0/asks/{id}/', 4.5)).toBe(12)
})

test('after any number of 429s, an endpoint is tried again within about a minute', () => {
  const pacer = new Pacer(new HandClock())
  const waits = Array.from({ length: 30 }, () => pacer.tooFast('GET /api/v0/instances/', undefined))
  expect(Math.max(...waits)).toBeLessThan(67)
})

test('a limit learned from a 429 expires after ten minutes', async () => {
  const clock = new HandClock()
  const pacer = new Pacer(clock)
  const endpoint = 'GET /api/v0/instances/'
  const call = async () => (await pacer.turn(endpoint, undefined))()
  pacer.tooFast(endpoint, 0.02)
  await clock.runUntil(call())
  expect(clock.monotonic() - began).toBeGreaterThan(50_000)
  await clock.pass(600_000)
  for (let calls = 0; calls < 100; calls++) await call()
  expect(clock.waiting).toEqual([])
})

test.each([
  ['API requests too frequent: endpoint threshold=5.5', 5.5],
  ['API requests too frequent endpoint threshold=0.5 (tried 3 times)', 0.5],
  ['Threshold of 2 exceeded by 7 requests', 2],
  ['at most 3 a second', 3],
  ['4 of 5', undefined],
  ['too many requests', undefined],
  ['threshold=0', undefined],
  ['', undefined],
  ['{"success":false,"error":"rate_limit_exceeded","msg":"too frequent endpoint threshold=3.0"}', 3],
  ['<html><title>429 Too Many Requests</title><h1>429 Too Many Requests</h1></html>', undefined],
  ['429', undefined],
])('%j names the threshold %d', (detail, threshold) => {
  expect(thresholdIn(detail)).toBe(threshold)
})
