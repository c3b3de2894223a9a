import { expect, test } from 'vitest'
import { gainWords, laneDays, laneOf, weekCost, weekCosts } from '#renderer/screens/spending/lanes.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'

const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime() / 1000
const now = at(22, 14)
const week = laneDays(now)
const changes = (...list: [number, InstanceState][]) =>
  list.map(([at, state]) => ({ at, state, actualStatus: null }))

test('lanes show seven calendar days, today last', () => {
  expect([week.from, week.to]).toEqual([at(16, 0), at(23, 0)])
  expect(week.days.map(({ name }) => name.slice(0, 3)).join(' ')).toBe('Mon Tue Wed Thu Fri Sat Sun')
})

test('a lane shows when an instance ran, rested and was outbid in the shown days', () => {
  const history = changes(
    [at(15, 22), 'running'],
    [at(16, 2), 'stopped'],
    [at(20, 6), 'running'],
    [at(20, 9), 'outbid'],
  )
  const lane = laneOf(instanceView({ state: 'outbid', history }), week, now)
  expect(lane.parts).toEqual([
    { from: at(16, 0), to: at(16, 2), kind: 'running' },
    { from: at(16, 2), to: at(20, 6), kind: 'resting' },
    { from: at(20, 6), to: at(20, 9), kind: 'running' },
    { from: at(20, 9), to: now, kind: 'resting' },
  ])
  expect(lane.marks).toEqual([{ at: at(20, 9), kind: 'outbid' }])
  expect(lane.about).toBe('ran 5 h, outbid Fri 20 Nov, 09:00')
})

test('an instance that was running when first seen ran since its creation', () => {
  const view = instanceView({ startedAt: at(21, 10), history: changes([at(22, 10), 'running']) })
  expect(laneOf(view, week, now).parts).toEqual([{ from: at(21, 10), to: now, kind: 'running' }])
  const stopped = instanceView({ startedAt: at(21, 10), history: changes([at(22, 10), 'stopped']) })
  expect(laneOf(stopped, week, now)).toMatchObject({ parts: [{ from: at(22, 10) }], about: 'did not run' })
})

test('a repeated crash is marked once each time it begins', () => {
  const history = changes(
    [at(20, 1), 'crashed'],
    [at(20, 2), 'unstartable'],
    [at(20, 3), 'running'],
    [at(20, 4), 'crashed'],
  )
  expect(laneOf(instanceView({ history }), week, now).marks.map(({ at }) => at)).toEqual([
    at(20, 1),
    at(20, 4),
  ])
})

test('the week is summed by instance, and instances that are gone by day', () => {
  const day = (name: string, instances: Record<string, number>, spent: number) => ({
    day: name,
    spent,
    toppedUp: 0,
    models: {},
    instances,
  })
  const days = [
    day('2026-11-15', { 1: 900 }, 900),
    { ...day('2026-11-16', { 1: 10, 2: 5, 3: 1 }, 20), charged: { 2: { gpu: 5 } } },
    day('2026-11-22', { 1: 7, 3: 2 }, 9),
  ]
  expect(weekCosts({ days }, { 1: {} }, week.days)).toEqual({
    total: 29,
    instances: new Map([
      ['1', 17],
      ['2', 5],
      ['3', 3],
    ]),
    chargedUntil: new Map([['2', at(17, 0)]]),
    gone: { count: 2, total: 8, byDay: [6, 0, 0, 0, 0, 0, 2] },
  })
})

test('the cost of the days includes what an instance had cost in them before Berth counted it', () => {
  const spent = { micros: 80, at: at(18, 0), perHour: 0, seenFrom: at(18, 0), unseen: 80 }
  // Two of the four days before it was seen are shown.
  const older = instanceView({ id: 7, startedAt: at(14, 0), spent })
  const counted = { instances: new Map([['7', 2]]), chargedUntil: new Map<string, number>() }
  expect(weekCost(counted, older, week)).toEqual({ spent: 42, isEstimated: true })
  const charged = (until: number) => ({ ...counted, chargedUntil: new Map([['7', until]]) })
  expect(weekCost(charged(at(18, 0)), older, week)).toEqual({ spent: 2, isEstimated: false })
  // The service's list has the first of them.
  expect(weekCost(charged(at(17, 0)), older, week)).toEqual({ spent: 22, isEstimated: true })
  expect(weekCost({ ...counted, instances: new Map() }, instanceView({ costUnknown: true }), week)).toEqual({
    spent: undefined,
    isEstimated: false,
  })
})

test('the gain of ending an instance is a duration, and empty once the credit is used up', () => {
  expect(gainWords({ wins: 7200 }, false)).toBe('+2 h')
  expect(gainWords({ wins: 400 * 86_400 }, false)).toBe('Over a year')
  expect(gainWords({}, false)).toBe('Ends all spending')
  expect(gainWords({ wins: 0 }, true)).toBe('')
})
