import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAccountClock, sameTime } from '#core/instances/account-clock.ts'
import { accountNow } from '#shared/derived.ts'
import { HandClock } from '#test/berth/clocks.ts'

const epoch = 1_900_000_000

/** A service whose time runs at `rate`; its answers, `every` so many milliseconds, give whole seconds. */
function world(rate: number, localClock = new HandClock(), initialRate?: number) {
  const account = createAccountClock(localClock, initialRate)
  let jumped = 0
  const begun = localClock.monotonic()
  const truth = () => epoch + jumped + ((localClock.monotonic() - begun) / 1000) * rate
  return {
    account,
    localClock,
    truth,
    jump: (seconds: number) => {
      jumped += seconds
    },
    async answers(count: number, every: number) {
      for (let index = 0; index < count; index += 1) {
        await localClock.pass(every)
        account.askedAnew()
        account.learn({ serverTime: Math.floor(truth()), roundTrip: 20 })
        account.isPaid()
      }
    },
    error: () => Math.abs(account.now() - truth()),
  }
}

describe.each([1, 20, 60])('in a world %i times as fast', rate => {
  test('the time is right to about one local second, however wrong the local clock', async () => {
    const { answers, error, account, localClock, truth } = world(rate, new HandClock(0))
    await answers(6, 10_000)
    expect(error()).toBeLessThan(2 + rate / 5)
    await localClock.pass(9000)
    expect(error()).toBeLessThan(2 + rate)
    const told = account.accountTime()
    expect(told.rate / rate).toBeGreaterThan(0.85)
    expect(told.rate / rate).toBeLessThan(1.15)
    expect(Math.abs(accountNow(told, localClock.now()) - truth())).toBeLessThan(2 + rate)
  })

  test.each([-3, 3])('some answers %i days away, between right ones, do not change the time', async days => {
    const { answers, account, localClock, truth, error } = world(rate, new HandClock(), rate)
    await answers(10, 10_000)
    for (let poll = 0; poll < 6; poll += 1) {
      await localClock.pass(5000)
      account.askedAnew()
      for (const away of [0, days, days, days, 0]) {
        await localClock.pass(30 / rate)
        account.learn({ serverTime: Math.floor(truth() + away * 86_400), roundTrip: 20 / rate })
        expect(error()).toBeLessThan(2 + 2 * rate)
      }
    }
  })

  test('two answers in quick succession do not change the rate', async () => {
    const { answers, account } = world(rate, new HandClock(), rate)
    for (let poll = 0; poll < 50; poll += 1) {
      await answers(1, 2000)
      await answers(1, 3)
    }
    expect(account.accountTime().rate).toBeCloseTo(rate, 0)
  })
})

test('a service whose clock stands still is told by as much, and no longer once it goes on', async () => {
  const { account, answers, localClock, truth } = world(1)
  await answers(20, 10_000)
  expect(account.accountTime().strays).toBeUndefined()
  const stopped = Math.floor(truth())
  for (let minute = 0; minute < 60; minute += 1) {
    await localClock.pass(60_000)
    account.learn({ serverTime: stopped, roundTrip: 20 })
  }
  const stood = account.accountTime()
  expect(stood.strays).toBeGreaterThan(-3610)
  expect(stood.strays).toBeLessThan(-3590)
  expect(sameTime(stood, { ...stood, strays: -3400 })).toBe(false)
  await answers(2, 10_000)
  expect(account.accountTime().strays).toBeUndefined()
})

test('before the first answer the local time is used', () => {
  const clock = new HandClock(1_700_000_000_000)
  expect(createAccountClock(clock).now()).toBe(1_700_000_000)
})

test('a leap of the service’s time is believed once the next answer agrees, and leaves the rate at 1', async () => {
  const { answers, error, jump, account } = world(1)
  await answers(5, 10_000)
  for (const seconds of [3600, 86_400]) {
    jump(seconds)
    await answers(1, 10_000)
    expect(error()).toBeGreaterThan(seconds - 2)
    expect(account.doubtedBy()).toBeGreaterThan(0)
    await answers(1, 10_000)
    expect(error()).toBeLessThan(2)
    expect(account.accountTime().rate).toBe(1)
  }
})

test('leaps that no later answer agrees with change nothing, however many of the first answers they are', async () => {
  const leap = fc.integer({ min: -200_000, max: 200_000 }).filter(seconds => Math.abs(seconds) > 60)
  const answer = fc.option(leap, { nil: undefined })
  const pause = fc.constantFrom(3, 100, 5000, 10_000, 60_000)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(answer, pause), { maxLength: 40 }), async steps => {
      const { answers, error, jump } = world(1, new HandClock(epoch * 1000))
      await answers(1, 1)
      for (const [wrong, milliseconds] of steps) {
        if (wrong) {
          jump(wrong)
          await answers(1, milliseconds)
          jump(-wrong)
          expect(error()).toBeLessThan(3)
        }
        await answers(1, milliseconds)
        expect(error()).toBeLessThan(3)
      }
    }),
    {
      numRuns: 200,
      endOnFailure: true,
      examples: [
        [
          [
            [undefined, 60_000],
            [undefined, 60_000],
            [-61, 5000],
            [61, 5000],
          ],
        ],
      ],
    },
  )
})

test('a wrong first answer is corrected by the next one', async () => {
  for (const seconds of [111_600, -111_600]) {
    const { answers, error, jump } = world(1, new HandClock(epoch * 1000))
    jump(seconds)
    await answers(1, 10_000)
    jump(-seconds)
    await answers(1, 3)
    expect(error()).toBeLessThan(2)
  }
})

test('after two minutes it is never slower than this computer’s, whatever they say', async () => {
  const told = fc.constantFrom<Seconds>('same', 'half', 'back', 'right', 'ahead')
  await fc.assert(
    fc.asyncProperty(fc.array(told, { minLength: 3, maxLength: 60 }), async answers => {
      const clock = new HandClock()
      const account = createAccountClock(clock)
      let serverTime = epoch
      let lowest = Number.POSITIVE_INFINITY
      let began: { account: number; own: number } | undefined
      for (const [index, answer] of answers.entries()) {
        await clock.pass(30_000)
        serverTime += steps[answer]
        lowest = Math.min(lowest + 30, serverTime)
        account.askedAnew()
        account.learn({ serverTime, roundTrip: 20 })
        const [time, own] = [account.now(), clock.monotonic() / 1000]
        expect(account.accountTime().rate).toBeGreaterThanOrEqual(1)
        if (began) expect(time - began.account).toBeGreaterThanOrEqual(own - began.own - 0.001)
        if (index === 4) began = { account: lowest, own }
      }
    }),
  )
})

type Seconds = 'same' | 'half' | 'back' | 'right' | 'ahead'
const steps = { same: 0, half: 15, back: -3600, right: 30, ahead: 600 } satisfies Record<Seconds, number>

const standing = {
  'stand still': () => 0,
  'are slow': passed => passed / 2,
  'are a little slow': passed => passed * 0.9,
  'go back and then stand still': () => -600,
  'jump to and fro': passed => passed - ([400, 60, 2000][Math.floor(passed / 7) % 3] ?? 0),
  'come from two caches': passed => -60 * (Math.floor(passed / 3) % 2),
} satisfies Record<string, (passed: number) => number>

test.each(Object.entries(standing))(
  'answers that %s at once never make it slower than this computer’s',
  async (_, told) => {
    for (const every of [1, 4, 5, 7, 30])
      for (const right of [1, 2, 3, 40]) {
        const { answers, account, localClock, truth } = world(1, new HandClock(epoch * 1000))
        await answers(right, every * 1000)
        const began = truth()
        while (truth() < began + 900) {
          await localClock.pass(every * 1000)
          account.askedAnew()
          account.learn({ serverTime: Math.floor(began + told(truth() - began)), roundTrip: 20 })
          expect(account.now() - truth()).toBeGreaterThan(-3)
        }
      }
  },
)

test('a leap that only requests on their way together tell is doubted until a later one, which may end it', async () => {
  const year = 365 * 86_400
  const { answers, error, jump, account, localClock, truth } = world(1)
  await answers(5, 10_000)
  // One that was right came shortly before.
  jump(60)
  await answers(2, 1000)
  await localClock.pass(10_000)
  account.askedAnew()
  for (const _ of ['instances', 'user'])
    account.learn({ serverTime: Math.floor(truth() + year), roundTrip: 20 })
  expect(account.doubtedBy()).toBeGreaterThan(0)
  await answers(1, 1000)
  expect(account.doubtedBy()).toBeUndefined()
  expect(error()).toBeLessThan(2)
  jump(year)
  await answers(1, 1000)
  expect(account.doubtedBy()).toBeGreaterThan(0)
  await answers(1, 1000)
  expect(account.doubtedBy()).toBeUndefined()
  expect(error()).toBeLessThan(2)
})

test('an earlier time is believed once answers have gone on from it for two minutes, and a leap ahead is over at once', async () => {
  const { answers, error, jump, account } = world(1, new HandClock((epoch + 86_400) * 1000))
  await answers(2, 10_000)
  jump(-300)
  await answers(12, 10_000)
  expect(error()).toBeGreaterThan(298)
  expect(account.doubtedBy()).toBeUndefined()
  await answers(2, 10_000)
  expect(error()).toBeLessThan(2)
  for (const _ of [1, 2, 3]) {
    jump(60 * 86_400)
    await answers(2, 10_000)
    expect(error()).toBeLessThan(2)
    jump(-60 * 86_400)
    await answers(2, 10_000)
    expect(error()).toBeLessThan(2)
  }
})

test('where this computer’s clock agreed, no answers take it hours away without a charge, for however long', async () => {
  for (const hours of [-3, 3])
    for (const right of [1, 3, 30]) {
      const { answers, account, localClock, truth, error, jump } = world(1, new HandClock(epoch * 1000))
      const lasts = async (minutes: number, away: number) => {
        for (let poll = 0; poll < minutes * 6; poll += 1) {
          await localClock.pass(10_000)
          account.askedAnew()
          account.learn({ serverTime: Math.floor(truth() + away), roundTrip: 20 })
          expect(error()).toBeLessThan(3)
        }
      }
      await lasts(right / 6, 0)
      await lasts(60, hours * 3600)
      await lasts(1, 0)
      jump(3 * 3600)
      await answers(2, 10_000)
      expect(error()).toBeLessThan(3)
    }
})

test('a leap without a charge takes two minutes where this computer’s clock is wrong itself', async () => {
  const { account, localClock, truth, jump, error } = world(1, new HandClock(0))
  const lasts = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 10) {
      await localClock.pass(10_000)
      account.askedAnew()
      account.learn({ serverTime: Math.floor(truth()), roundTrip: 20 })
    }
  }
  await lasts(60)
  jump(3 * 3600)
  await lasts(120)
  expect(error()).toBeGreaterThan(3 * 3600 - 3)
  await lasts(20)
  expect(error()).toBeLessThan(3)
})

test('a session begins no earlier than the one before had ended, unless that was wrong', () => {
  const clock = new HandClock()
  const now = clock.now() / 1000
  const after = (seenAt: number) => {
    const account = createAccountClock(clock, 1, seenAt)
    account.learn({ serverTime: now - 7200, roundTrip: 20 })
    return account.now() - now
  }
  expect(after(now)).toBeCloseTo(0, 1)
  expect(after(now + 3600)).toBeCloseTo(-7199.5, 1)
})

test('repeated sleeps between polls do not change the rate', async () => {
  const { answers, error, jump, account, localClock } = world(1)
  await answers(3, 10_000)
  for (let sleep = 0; sleep < 5; sleep += 1) {
    jump(3600)
    localClock.wall += 3_600_000
    await answers(1, 5000)
    expect(error()).toBeLessThan(2)
  }
  expect(account.accountTime().rate).toBe(1)
})

test('cached answers with almost the same time do not slow the account’s time', async () => {
  const { answers, account, localClock, truth } = world(1)
  await answers(3, 10_000)
  const cached = Math.floor(truth())
  for (const [seconds, serverTime] of [
    [10, cached + 2],
    [2, cached + 2],
    [2, cached + 2],
  ] as const) {
    await localClock.pass(seconds * 1000)
    account.learn({ serverTime, roundTrip: 20 })
  }
  expect(account.accountTime().rate).toBe(1)
})

test('a jump of the local clock does not change the account’s time', async () => {
  const { answers, error, account, localClock } = world(1)
  await answers(3, 10_000)
  const before = account.accountTime()
  localClock.wall += 86_400_000
  expect(error()).toBeLessThan(2)
  expect(sameTime(before, account.accountTime())).toBe(false)
})

test('rounding to seconds and jitter leave the clock steady', async () => {
  const { answers, account } = world(1)
  await answers(3, 10_000)
  const first = account.accountTime()
  for (let poll = 0; poll < 200; poll += 1) {
    await answers(1, 9_500 + ((poll * 337) % 1000))
    expect(sameTime(first, account.accountTime())).toBe(true)
  }
})
