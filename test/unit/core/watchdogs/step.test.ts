import { expect, test } from 'vitest'
import { momentAsleep } from '#core/limits/limit-due.ts'
import type { StoredLimit } from '#core/limits/model.ts'
import { pollsUntilEnd, type StoredWatchdog } from '#core/watchdogs/record.ts'
import {
  costReached,
  limitOfWatchdog,
  mayHaveDestroyed,
  tickOf,
  visitEvery,
  watchdogAfterPoll,
  watchdogRequest,
} from '#core/watchdogs/step.ts'
import type { WatchdogReason, WatchdogRequest } from '#shared/automation/watchdog.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'
import { storedLimit } from '../limits/stored-limit.ts'

const running = instanceView()
const stopped = instanceView({ state: 'stopped' })

/** Last visited at 4000, then busy. */
function watching(
  request: Omit<WatchdogRequest, 'action'>,
  seen: Partial<StoredWatchdog['report']> = {},
): StoredWatchdog {
  return {
    instance: 4711,
    request: { action: 'stop', ...request },
    step: 'watching',
    foreign: false,
    renewedAt: 4000,
    report: { at: 4000, comesBack: true, key: 'container', ...seen },
  }
}

const destroying = (watchdog: StoredWatchdog): StoredWatchdog => ({
  ...watchdog,
  request: { ...watchdog.request, action: 'destroy' },
})
const why = (watchdog: StoredWatchdog, instance: InstanceView | undefined, at: number) =>
  watchdogAfterPoll(watchdog, instance, at).did?.why

test('a stop counts as the watchdog’s if its time, lease, idle limit or run was due', () => {
  expect(why(watching({ at: 5000 }), stopped, 4900)).toBeUndefined()
  expect(why(watching({ at: 5000 }), stopped, 5000)).toBe('time')
  expect(why(watching({ lease: 600 }), stopped, 4500)).toBeUndefined()
  expect(why(watching({ lease: 600 }), stopped, 4600)).toBe('lease')
  const idle = { idle: { seconds: 1800, below: 5 } }
  expect(why(watching(idle, { idleFor: 1700 }), stopped, 4050)).toBeUndefined()
  expect(why(watching(idle, { idleFor: 1700 }), stopped, 4100)).toBe('idle')
  expect(why(watching(idle), stopped, 5700)).toBeUndefined()
  expect(why(watching(idle), stopped, 5800)).toBe('idle')
  expect(why(watching(idle, { why: 'idle' }), stopped, 4001)).toBe('idle')
  expect(why(watching({}, { why: 'run' }), stopped, 4001)).toBe('run')
  expect(why(watching({}), stopped, 9000)).toBeUndefined()
})

test('one that can’t be told of a change is judged by what it goes by', () => {
  const putting = { ...watching({ at: 5000 }), step: 'putting' } as const
  const told = { ...putting, there: { action: 'stop', at: 7000 } } as const
  expect(why(putting, stopped, 7000)).toBeUndefined()
  expect(why(told, stopped, 6000)).toBeUndefined()
  expect(why(told, stopped, 7000)).toBe('time')
})

test('of several reasons the earliest one counts', () => {
  const both = watching({ at: 4500, lease: 600, idle: { seconds: 1800, below: 5 } })
  expect(why(both, stopped, 9000)).toBe('time')
  expect(why(watching({ lease: 600, idle: { seconds: 300, below: 5 } }), stopped, 9000)).toBe('idle')
  // That time had already passed at the last visit.
  expect(why({ ...both, request: { action: 'stop', at: 3000 } }, stopped, 9000)).toBeUndefined()
})

test('only the action it was set to take counts as the watchdog’s', () => {
  const idle = watching({ idle: { seconds: 300, below: 5 } })
  expect(watchdogAfterPoll(destroying(idle), undefined, 5000).did).toEqual({
    at: 5000,
    action: 'destroy',
    why: 'idle',
  })
  expect(watchdogAfterPoll(idle, stopped, 5000).did).toEqual({ at: 5000, action: 'stop', why: 'idle' })
  expect(why(idle, undefined, 5000)).toBeUndefined()
  expect(why(destroying(idle), stopped, 5000)).toBeUndefined()
  expect(why({ ...idle, step: 'removing' }, stopped, 5000)).toBeUndefined()
})

test('a stop by Berth never counts as the watchdog’s, unless the instance ran on since', () => {
  let watchdog: StoredWatchdog = { ...watching({ lease: 60 }), endsHere: pollsUntilEnd }
  for (let polls = 1; polls <= pollsUntilEnd; polls += 1) {
    expect(why(watchdog, stopped, 9000)).toBeUndefined()
    watchdog = watchdogAfterPoll(watchdog, running, 4000 + polls).watchdog
  }
  expect(why(watchdog, stopped, 9000)).toBe('lease')
})

test('a stop is judged once, at the first poll that shows it, until the next run', () => {
  // A stop by someone else stays theirs once the watchdog would have been due.
  const before = watchdogAfterPoll(watching({ at: 5000 }), stopped, 4100).watchdog
  expect(why(before, stopped, 5100)).toBeUndefined()
  const told = watchdogAfterPoll(watching({ lease: 60 }), stopped, 5000).watchdog
  expect(why(told, stopped, 5010)).toBeUndefined()
  expect(why(watchdogAfterPoll(told, running, 6000).watchdog, stopped, 6500)).toBe('lease')
})

test('an end of which it tells counts once a poll shows it, unless it was told long before that visit or judged already', () => {
  const did = { at: 3990, action: 'destroy', why: 'time' } as const
  const told = destroying(watching({}, { did }))
  expect(watchdogAfterPoll(told, running, 4010).did).toBeUndefined()
  expect(why(told, stopped, 9000)).toBeUndefined()
  expect(watchdogAfterPoll(told, undefined, 9000)).toMatchObject({ did, seems: false })
  expect(why(destroying(watching({}, { did: { ...did, at: 3900 } })), undefined, 9000)).toBeUndefined()
  expect(why({ ...told, lastAction: { ...did, at: 3995 } }, undefined, 9000)).toBeUndefined()
  expect(watchdogAfterPoll(destroying(watching({ at: 5000 })), undefined, 5000).seems).toBe(true)
})

test('a machine that was stopped here and boots again may be ended by its watchdog before it was seen to run', () => {
  const there = { action: 'destroy', at: 7000 } as const
  const removed = { ...watching({ at: 7000 }), step: 'removing', there, endsHere: pollsUntilEnd } as const
  const seenStopped = watchdogAfterPoll(removed, stopped, 4100).watchdog
  expect(why(seenStopped, undefined, 9000)).toBeUndefined()
  const booting = watchdogAfterPoll(seenStopped, instanceView({ state: 'loading' }), 4200).watchdog
  expect(why(booting, undefined, 9000)).toBe('time')
  expect(mayHaveDestroyed(booting, 9000)).toBe(true)
})

test('a lease outlasts three failed visits, and the watchdog checks it often enough', () => {
  for (const lease of [10, 60, 600, 7200]) {
    const watchdog = watching({ lease })
    expect(visitEvery(watchdog) * 3).toBeLessThan(lease)
    expect(tickOf(watchdog.request)).toBeLessThanOrEqual(Math.max(1, lease / 4))
  }
  expect(visitEvery({ ...watching({ lease: 600 }), foreign: true })).toBe(300)
})

const limit = (given: Partial<StoredLimit>) =>
  storedLimit({ when: { kind: 'time', at: 5000.2 }, asleep: true, setAt: 1000, ...given })
const requested = (...limits: StoredLimit[]) => watchdogRequest(limits, false, 4000)

test('a watchdog applies the limits that act during sleep, each kind once', () => {
  const idle = limit({ when: { kind: 'idle', below: 4.6, seconds: 600 } })
  const away = limit({ when: { kind: 'away', seconds: 7200 } })
  expect(requested(limit({}), idle, away)).toEqual({
    action: 'stop',
    at: 5001,
    idle: { seconds: 600, below: 5 },
    lease: 7200,
  })
  expect(requested(limit({}), limit({ when: { kind: 'duration', seconds: 3500 } }))).toEqual({
    action: 'stop',
    at: 4500,
  })
  expect(requested(limit({ asleep: false }), limit({ ended: 'off' }))).toBeUndefined()
  expect(watchdogRequest([], true, 4000)).toEqual({ action: 'stop' })
})

test('a watchdog knows when a cost will be reached, and is told again once that has moved', () => {
  const cost = limit({ instance: 7, when: { kind: 'cost', dollars: 3 } })
  const at = (known: number | undefined, given: Partial<InstanceView> = {}, one = cost) => {
    const view = instanceView({ id: 7, spent: { micros: 1_000_000, at: 4000, perHour: 1_000_000 }, ...given })
    return watchdogRequest([one], false, 4000, each => momentAsleep(each, view, known, 4000))?.at
  }
  const due = 4000 + 2 * 3600
  expect(at(undefined)).toBe(due)
  for (const known of [due - 359, due + 29]) expect(at(known)).toBe(known)
  for (const known of [due - 361, due + 31]) expect(at(known)).toBe(due)
  // Traffic goes on as in the last hour; where a limit on its rental leaves it out, that counts none.
  const traffic = { spent: 100_000, perHour: 1_000_000 }
  expect(at(due, { traffic })).toBe(4000 + 3600)
  expect(
    at(undefined, { traffic }, { ...cost, when: { kind: 'duration', seconds: 1e6 }, most: { dollars: 2.9 } }),
  ).toBe(due)
  // A price that rises moves it; while it is stopped nobody could be told.
  expect(at(due, { spent: { micros: 1_000_000, at: 4000, perHour: 2_000_000 } })).toBe(4000 + 3600)
  expect(at(due, { state: 'stopped', spent: { micros: 1_000_000, at: 4000, perHour: 1000 } })).toBe(due)
})

test('a watchdog’s action names the limit that it was for', () => {
  const cost = limit({ instance: 4711, when: { kind: 'cost', dollars: 3 } })
  const idle = limit({ when: { kind: 'idle', below: 5, seconds: 600 } })
  const longer = limit({ when: { kind: 'idle', below: 5, seconds: 900 } })
  const away = limit({ when: { kind: 'away', seconds: 900 } })
  const all = [longer, cost, limit({}), idle, away]
  const limitFor = (why: WatchdogReason, at: number, limits = all) =>
    limitOfWatchdog(limits, { why, at, action: 'stop' })
  expect(limitFor('time', 4980)).toBe(cost)
  expect(limitFor('time', 5001)).toMatchObject({ when: { kind: 'time' } })
  expect(limitFor('idle', 5001)).toBe(idle)
  expect(limitFor('lease', 5001)).toBe(away)
  expect(limitFor('run', 5001)).toBeUndefined()
  expect(limitFor('idle', 5001, [{ ...idle, asleep: false }])).toBeUndefined()
  // The limit itself was over with the same poll.
  const over = (at: number) => ({ ...idle, ended: 'over' as const, history: [{ at, text: '' }] })
  expect(limitFor('idle', 5001, [over(5002)])).toMatchObject({ when: idle.when })
  expect(limitFor('idle', 5001, [over(4000)])).toBeUndefined()
  expect(costReached(cost, stopped, 5000)).toMatchObject({ when: cost.when, ended: 'done', targets: [4711] })
})

test('a snooze moves a watchdog’s time, and pauses its limits without a time', () => {
  expect(requested(limit({ snoozedUntil: 9000 }))).toEqual({ action: 'stop', at: 9000 })
  const idle = limit({ when: { kind: 'idle', below: 5, seconds: 600 }, snoozedUntil: 9000 })
  expect(requested(idle)).toEqual({ action: 'stop' })
  expect(watchdogRequest([idle], false, 9000)).toMatchObject({ idle: { seconds: 600 } })
})

test('a watchdog destroys only where every limit that it keeps does', () => {
  const destroys = limit({ action: 'destroy' })
  expect(requested(destroys)).toEqual({ action: 'destroy', at: 5001 })
  expect(requested(destroys, limit({ when: { kind: 'away', seconds: 60 } }))).toEqual({
    action: 'stop',
    at: 5001,
    lease: 60,
  })
})

test('an instance that is gone is its watchdog’s doing only where that was due', () => {
  const request = { action: 'destroy', at: 9000 } as const
  const one = { instance: 7, request, step: 'watching', foreign: false } as const
  expect([8000, 9000].map(at => mayHaveDestroyed(one, at))).toEqual([false, true])
  // Judged before, too, and not where it could not be told of its time.
  expect(mayHaveDestroyed({ ...one, isEndDecided: true }, 9000)).toBe(true)
  expect(mayHaveDestroyed({ ...one, step: 'putting' }, 9000)).toBe(false)
  expect(mayHaveDestroyed(undefined, 9000)).toBe(false)
})
