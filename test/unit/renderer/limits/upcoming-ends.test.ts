import { expect, test } from 'vitest'
import {
  endWords,
  nextLimit,
  nextLimitWords,
  upcomingEnds,
  wantsAnswer,
} from '#renderer/features/limits/upcomingEnds.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import type { RunView } from '#shared/automation/run.ts'
import type { WatchdogView } from '#shared/automation/watchdog.ts'
import { timeOfDay, weekdayAndDay } from '#shared/format/time.ts'
import { accountView, byId, instanceView, limitView, runView } from '#test/unit/views.ts'

const now = 1_790_000_000
const hour = 3600
const box = instanceView({
  id: 7,
  startedAt: now - 2 * hour,
  spent: { micros: 7_020_000, at: now, perHour: 2_528_000 },
})

function limit(given: Partial<LimitView>): LimitView {
  return limitView({
    id: 'g1',
    instance: 7,
    when: { kind: 'time', at: now + 2 * hour },
    warning: 900,
    dueAt: now + 2 * hour,
    ...given,
  })
}

/** The cell's text of each stop of the box, the first first. */
function cells(
  { limits = [], watchdog, runs = [] }: { limits?: LimitView[]; watchdog?: WatchdogView; runs?: RunView[] },
  hindered = false,
): string[] {
  const account = accountView({
    limits: byId(limits),
    watchdogs: watchdog ? { 7: watchdog } : {},
    runs: byId(runs),
  })
  return upcomingEnds(account, box).map(stop => {
    const { text, at } = endWords(stop, now, hindered)
    return `${stop.by}: ${[text, at].filter(Boolean).join(' · ')}`
  })
}

const watchdog = (request: WatchdogView['request']): WatchdogView => ({
  instance: 7,
  request,
  step: 'watching',
  foreign: false,
})

test('shows how long until the next stop of any kind, and when that is', () => {
  const clock = timeOfDay(now + 2 * hour)
  expect(cells({ limits: [limit({})] })).toEqual([`limit: 2 h · ${clock}`])
  const cost = limit({
    id: 'g2',
    when: { kind: 'cost', dollars: 9 },
    dueAt: now + 47 * 60,
  })
  expect(cells({ limits: [limit({}), cost] })).toEqual([
    `limit: 47 min · ${timeOfDay(now + 47 * 60)}`,
    `limit: 2 h · ${clock}`,
  ])
})

test('the day of a stop is given from a day ahead on', () => {
  const at = now + 30 * hour
  const day = weekdayAndDay(new Date(at * 1000), new Date(now * 1000))
  expect(cells({ limits: [limit({ dueAt: at })] })).toEqual([`limit: 1 d 6 h · ${day}`])
})

test('while its watchdog can’t be told of a change, what that still goes by ends it as well', () => {
  const former = { action: 'stop', at: now + hour } as const
  const untold = {
    ...watchdog({ action: 'stop', at: now + 2 * hour }),
    there: former,
    step: 'putting',
  } as const
  const extended = limit({ asleep: true })
  const first = `watchdog: 1 h · ${timeOfDay(now + hour)}`
  const then = `2 h · ${timeOfDay(now + 2 * hour)}`
  expect(cells({ limits: [extended], watchdog: untold })).toEqual([first, `watchdog: ${then}`])
  expect(cells({ watchdog: { ...untold, step: 'removing' } })).toEqual([first])
  const told = { ...untold, there: { ...former, at: now + 2 * hour + 20 } }
  expect(cells({ limits: [extended], watchdog: told })).toEqual([`watchdog: ${then}`])
  // One that acts later than wanted doesn't keep the limit.
  const late = { ...untold, there: { ...former, at: now + 3 * hour } }
  expect(cells({ limits: [extended], watchdog: late })).toEqual([
    `limit: ${then}`,
    `watchdog: 3 h · ${timeOfDay(now + 3 * hour)}`,
  ])
  // Nobody may count on one that came with the rental and that no visit sees.
  expect(cells({ limits: [extended], watchdog: { ...told, unseen: true } })).toEqual([`limit: ${then}`])
  // Until one is installed, only Berth acts.
  const installed = watchdog({ action: 'stop', at: now + 2 * hour })
  expect(cells({ limits: [extended], watchdog: { ...installed, step: 'putting' } })).toEqual([
    `limit: ${then}`,
  ])
  expect(cells({ limits: [extended], watchdog: installed })).toEqual([`watchdog: ${then}`])
})

test('that it destroys is said in words', () => {
  const at = timeOfDay(now + 2 * hour)
  expect(cells({ limits: [limit({ action: 'destroy' })] })).toEqual([`limit: destroyed in 2 h · ${at}`])
  const { dueAt: _, ...idle } = limit({ action: 'destroy', when: { kind: 'idle', below: 5, seconds: 1800 } })
  expect(cells({ limits: [idle] })).toEqual(['limit: destroyed if idle 30 min'])
})

test('a moment that has passed is due, as it isn’t known to have happened', () => {
  expect(cells({ limits: [limit({ dueAt: now - hour })] })).toEqual([`limit: due · ${timeOfDay(now - hour)}`])
})

test('without a moment the condition is given', () => {
  const { dueAt: _, ...uncounted } = limit({ when: { kind: 'idle', below: 5, seconds: 1800 } })
  expect(cells({ limits: [uncounted] })).toEqual(['limit: if idle 30 min'])
  expect(cells({ limits: [{ ...uncounted, when: { kind: 'cost', dollars: 9 } }] })).toEqual([
    'limit: at $9.00',
  ])
  const away = { ...uncounted, when: { kind: 'away', seconds: 7200 }, asleep: true } as const
  const leased = watchdog({ action: 'stop', lease: 7200 })
  expect(cells({ limits: [away], watchdog: leased })).toEqual(['watchdog: if Berth is away 2 h'])
  expect(cells({ watchdog: { ...leased, foreign: true } })).toEqual(['watchdog: by another Berth'])
  const theirs = watchdog({ action: 'stop', at: now + 2 * hour })
  expect(cells({ watchdog: { ...theirs, foreign: true } })).toEqual([
    `watchdog: 2 h · ${timeOfDay(now + 2 * hour)}`,
  ])
  expect(cells({ runs: [runView({ instance: 7, afterwards: 'stop' })] })).toEqual(['run: after its run'])
  expect(cells({ runs: [runView({ instance: 7, afterwards: 'nothing' })] })).toEqual([])
})

test('a limit that its watchdog keeps, too, is the watchdog’s', () => {
  const at = now + 2 * hour
  const held = watchdog({ action: 'stop', at })
  expect(cells({ limits: [limit({ asleep: true })], watchdog: held })).toEqual([
    `watchdog: 2 h · ${timeOfDay(at)}`,
  ])
  expect(cells({ limits: [limit({ asleep: true })], watchdog: { ...held, step: 'lost' } })).toEqual([
    `limit: 2 h · ${timeOfDay(at)}`,
  ])
})

test('how long it is idle is not known while Berth sees nothing', () => {
  const idle = limit({ when: { kind: 'idle', below: 5, seconds: 1800 }, dueAt: now + 28 * 60 })
  expect(cells({ limits: [idle] })).toEqual([`limit: 28 min · ${timeOfDay(now + 28 * 60)}`])
  expect(cells({ limits: [idle] }, true)).toEqual(['limit: if idle 30 min'])
})

test('half an hour before, it stands out and can be answered', () => {
  const at = (seconds: number) => limit({ dueAt: now + seconds })
  const soon = (one: LimitView) => {
    const [stop] = upcomingEnds(accountView({ limits: { g1: one } }), box)
    return stop && endWords(stop, now, false).soon
  }
  expect([soon(at(1801)), soon(at(1800))]).toEqual([false, true])
  expect([wantsAnswer(at(1801), now), wantsAnswer(at(1800), now)]).toEqual([false, true])
})

test('only limits that have an effect on it count, the next one first', () => {
  const { dueAt: _, ...uncounted } = limit({ id: 'g3' })
  const later = limit({ id: 'g2', dueAt: now + 9 * hour })
  const others = [later, limit({}), uncounted, limit({ instance: 8 }), limit({ step: 'done' })]
  expect(nextLimit(others, box)).toEqual(limit({}))
  const stopped = { ...box, state: 'stopped' } as const
  expect(nextLimit([limit({})], stopped)).toBeUndefined()
  expect(nextLimit([limit({ action: 'destroy' })], stopped)).toBeDefined()
  expect(upcomingEnds(accountView({ limits: { g1: limit({}) } }), stopped)).toEqual([])
})

test('the next action is given with its time and reason', () => {
  const at = timeOfDay(now + 2 * hour)
  expect(nextLimitWords(limit({ when: { kind: 'cost', dollars: 9 } }), now)).toBe(
    `Next: stops at ${at}, when it has cost $9.00.`,
  )
  expect(nextLimitWords(limit({ when: { kind: 'idle', below: 5, seconds: 3 * hour } }), now)).toBe(
    `Idle since ${timeOfDay(now - hour)}: stops at ${at}.`,
  )
  const kept = limit({
    when: { kind: 'idle', below: 5, seconds: 3 * hour },
    snoozedUntil: now + 2 * hour,
  })
  expect(nextLimitWords(kept, now)).toBe(`Kept running until ${at}: stops then if it is still idle.`)
  // It worked meanwhile, and is idle again when the snooze ends, for too short a time.
  expect(nextLimitWords({ ...kept, snoozedUntil: now + hour }, now)).toBe(
    `Idle since ${timeOfDay(now - hour)}: stops at ${at}.`,
  )
  expect(nextLimitWords(limit({ action: 'destroy' }), now)).toBe(`Next: destroys it at ${at}.`)
  expect(nextLimitWords(limit({ step: 'acting' }), now)).toBe('Stopping it now.')
})
