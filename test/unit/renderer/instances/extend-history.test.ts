import { expect, test } from 'vitest'
import {
  courseNow,
  extendHistory,
  heldToTheEnd,
  idleMinutes,
  idleWords,
  shownMinutes,
} from '#renderer/features/instances/hourOfLoad.svelte.ts'
import { instanceView } from '#test/unit/views.ts'

const hour = (last: number | null) => [...new Array<number | null>(shownMinutes - 1).fill(50), last]

test('within a minute the history is the same object, and the row shows the current load', () => {
  const history = { minute: 100, load: { 1: hour(60) } }
  expect(extendHistory(history, 100, { 1: instanceView({ id: 1, gpuLoad: 70 }) })).toBe(history)
  expect(courseNow(history.load[1], 70)).toEqual(hour(70))
  expect(courseNow(history.load[1], null)).toEqual(hour(60))
  expect(courseNow(undefined, 70)?.filter(value => value !== null)).toEqual([70])
})

test('later minutes repeat the last known load', () => {
  const history = { minute: 100, load: { 1: hour(60) } }
  const next = extendHistory(history, 102, { 1: instanceView({ id: 1, gpuLoad: 70 }) })
  expect(next?.minute).toBe(102)
  expect(next?.load[1]).toHaveLength(shownMinutes)
  expect(next?.load[1]?.slice(-4)).toEqual([50, 70, 70, 70])
})

test('a stopped instance leaves a gap, a new one starts with gaps, a gone one is removed', () => {
  const history = { minute: 100, load: { 1: hour(60), 2: hour(60) } }
  const next = extendHistory(history, 101, {
    1: instanceView({ id: 1, state: 'stopped', gpuLoad: 70 }),
    3: instanceView({ id: 3, gpuLoad: 10 }),
  })
  expect(next?.load[1]?.slice(-2)).toEqual([60, null])
  expect(next?.load[3]?.slice(-3)).toEqual([null, 10, 10])
  expect(Object.keys(next?.load ?? {})).toEqual(['1', '3'])
})

test('after a long gap or a step back the history is fetched again', () => {
  const history = { minute: 100, load: {} }
  expect(extendHistory(history, 106, {})).toBeUndefined()
  expect(extendHistory(history, 99, {})).toBeUndefined()
})

test('a history that is answered before a late poll leaves no gap at its end, unless it is long', () => {
  const ending = (...end: (number | null)[]) => [...hour(3).slice(end.length), ...end]
  const load = { 1: ending(3, null, null, null), 2: ending(3, ...new Array<null>(6).fill(null)), 3: [null] }
  const held = heldToTheEnd({ minute: 100, load }).load
  expect(held[1]?.slice(-4)).toEqual([3, 3, 3, 3])
  expect([held[2], held[3]]).toEqual([load[2], load[3]])
  // Else one that has been idle for long would not be for a moment.
  expect(
    idleMinutes(
      courseNow(
        heldToTheEnd({ minute: 100, load: { 1: [...ending(3).map(() => 3), null, null] } }).load[1],
        3,
      ),
    ),
  ).toBe(62)
})

test('an instance is idle for the minutes at the end without load, unless they are few', () => {
  const ends = (minutes: number, before: number | null) => [
    ...new Array<number | null>(shownMinutes - minutes).fill(before),
    ...new Array<number>(minutes).fill(4),
  ]
  expect([9, 10, 22].map(minutes => idleMinutes(ends(minutes, 80)))).toEqual([0, 10, 22])
  expect(idleMinutes(ends(12, null))).toBe(12)
  expect(idleMinutes([...ends(22, 80).slice(0, -1), 5])).toBe(0)
  expect(idleMinutes([])).toBe(0)
  expect([idleWords(22), idleWords(idleMinutes(ends(60, 80)))]).toEqual(['22 min', 'over 1 h'])
})
