import { beforeEach, expect, test } from 'vitest'
import {
  BadlyAnswered,
  createPoller,
  KeyRefused,
  type Poller,
  pollPauseAfter,
} from '#core/instances/repeated-polls.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'

let clock: HandClock
let poller: Poller
let polls: number
let atOnce: number
let most: number
let failing: Error | undefined
let held: boolean
let pauses: number[]
/** Ends the poll in progress. */
let finish: (() => void) | undefined

beforeEach(() => {
  clock = new HandClock()
  polls = 0
  atOnce = 0
  most = 0
  failing = undefined
  held = false
  pauses = []
  finish = undefined
  poller = createPoller({
    clock,
    interval: took => 10_000 - took,
    isSuspended: () => held,
    onPause: pause => void pauses.push(pause),
    random: () => 0.5,
    async poll() {
      polls += 1
      atOnce += 1
      most = Math.max(most, atOnce)
      try {
        if (finish) await new Promise<void>(resolve => (finish = resolve))
        if (failing) throw failing
      } finally {
        atOnce -= 1
      }
    },
  })
})

test('it polls once per interval while all is well', async () => {
  void poller.poll()
  await clock.pass(60_000)
  expect(polls).toBe(7)
})

test('a slow poll does not delay the next one', async () => {
  finish = () => undefined
  void poller.poll()
  for (let passed = 0; passed < 6; passed += 1) {
    await clock.pass(3000)
    finish?.()
    await clock.pass(7000)
  }
  expect(polls).toBe(7)
})

test.each([
  ['cannot be reached', new Error('no answer'), [20_000, 40_000, 80_000, 120_000, 120_000, 120_000]],
  ['answers badly', new BadlyAnswered('server_error'), [20_000, 30_000, 30_000, 30_000, 30_000, 30_000]],
  ['refuses the key', new KeyRefused('unauthorized'), [3000, 6000, 12_000, 24_000, 48_000, 96_000]],
])(
  'while the service %s it polls more and more rarely, and recovers at once',
  async (_, failure, expected) => {
    failing = failure
    void poller.poll()
    const pauses: number[] = []
    for (let poll = 0; poll < 6; poll += 1) {
      await flushPromises()
      const [next = 0] = clock.waiting
      pauses.push(next)
      await clock.pass(next)
    }
    expect(pauses).toEqual(expected)
    failing = undefined
    await poller.poll()
    expect(clock.waiting).toEqual([10_000])
  },
)

test('the jitter is a quarter either way, and only after failures', () => {
  expect(pollPauseAfter({ failures: 1 }, 10_000, 0)).toBe(15_000)
  expect(pollPauseAfter({ failures: 1 }, 10_000, 1)).toBe(25_000)
  expect(pollPauseAfter({ failures: 0 }, 10_000, 1)).toBe(10_000)
  expect(pollPauseAfter({ failures: 1000 }, 10_000, 0.5)).toBe(120_000)
  expect(pollPauseAfter({ failures: 1 }, 300_000, 0.5)).toBe(300_000)
})

test('requests during a poll share one poll that follows it', async () => {
  finish = () => undefined
  const first = poller.poll()
  const second = poller.poll()
  const third = poller.poll()
  let secondDone = false
  void second.then(() => {
    secondDone = true
  })
  finish()
  await first
  await flushPromises()
  expect(polls).toBe(2)
  expect(secondDone).toBe(false)
  finish()
  await Promise.all([second, third])
  expect(polls).toBe(2)
  await flushPromises()
  expect(clock.waiting).toEqual([10_000])
})

test('polls never overlap, even when one is requested as another ends', async () => {
  finish = () => undefined
  const first = poller.poll()
  const again = first.then(() => poller.poll())
  void poller.poll()
  for (let turn = 0; turn < 5; turn += 1) {
    finish()
    await flushPromises()
  }
  await again
  expect(most).toBe(1)
})

test('a paused poller polls only on request until resumed', async () => {
  void poller.poll()
  await flushPromises()
  poller.pause()
  await clock.pass(100_000)
  expect(polls).toBe(1)
  await poller.poll()
  await clock.pass(100_000)
  expect(polls).toBe(2)
  poller.resume()
  await clock.pass(10_000)
  expect(polls).toBe(4)
})

test('a stopped poller never polls again, not even for earlier requests', async () => {
  finish = () => undefined
  void poller.poll()
  const following = poller.poll()
  poller.stop()
  finish()
  await following
  await poller.poll()
  await clock.pass(100_000)
  expect(polls).toBe(1)
  expect(clock.waiting).toEqual([])
})

test('a held poller polls only on request until released', async () => {
  void poller.poll()
  await clock.pass(0)
  held = true
  await clock.pass(60_000)
  expect(polls).toBe(1)
  void poller.poll()
  await clock.pass(60_000)
  expect(polls).toBe(2)
  held = false
  void poller.poll()
  await clock.pass(20_000)
  expect(polls).toBe(5)
})

test('a key that stays refused is tried at least every five minutes', async () => {
  failing = new KeyRefused('unauthorized')
  void poller.poll()
  await clock.pass(3_600_000)
  await flushPromises()
  expect(clock.waiting[0]).toBeLessThanOrEqual(300_000)
  expect(polls).toBe(18)
})

test('only a failed poll says when the next one comes', async () => {
  void poller.poll()
  await clock.pass(0)
  expect(pauses).toEqual([])
  failing = new Error('silent')
  await clock.pass(10_000)
  await clock.pass(20_000)
  expect(pauses).toEqual([20_000, 40_000])
})
