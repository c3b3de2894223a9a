import { expect, test } from 'vitest'
import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import { longestLoad } from '../../../../electron/contract/instance/load.ts'
import { createLoadHistory, type LoadHistory } from '../../../../electron/core/instances/load-history.ts'
import { instanceView } from '../../views.ts'

const start = 1_800_000_000
const minute = 60

function running(id: number, gpuLoad?: number, gpuTemperature?: number): Record<string, InstanceView> {
  return {
    [id]: instanceView({
      id,
      state: 'running',
      ...(gpuLoad === undefined ? {} : { gpuLoad }),
      ...(gpuTemperature === undefined ? {} : { gpuTemperature }),
    }),
  }
}

function poll(history: LoadHistory, instances: Record<string, InstanceView>, at: number): void {
  history.onPoll({ account: { instances }, at })
}

test('a minute has the last value of its polls', () => {
  const history = createLoadHistory()
  poll(history, running(1, 90), start)
  poll(history, running(1, 92.34), start + 30)
  poll(history, running(1, 50), start + minute)
  expect(history.load(3, start + minute)).toEqual({
    minute: start / 60 + 1,
    load: { 1: [null, 92.3, 50] },
  })
})

test('a value holds until the next poll, however far apart polls are', () => {
  const history = createLoadHistory()
  for (let at = 0; at < 5; at++) poll(history, running(1, at), start + at * 5 * minute)
  const now = start + 22 * minute
  expect(history.load(23, now).load[1]).toEqual(
    [0, 1, 2, 3].flatMap(value => Array(5).fill(value)).concat(4, 4, 4),
  )
})

test('nothing is known of the minutes in which nothing was told for longer than usual', () => {
  const history = createLoadHistory()
  for (const at of [0, 1, 2, 5, 9, 10]) poll(history, running(1, at), start + at * minute)
  expect(history.load(13, start + 12 * minute).load[1]).toEqual([
    0,
    1,
    2,
    2,
    2,
    5,
    null,
    null,
    null,
    9,
    10,
    null,
    null,
  ])
})

test('what was told long ago is no part of the last hour', () => {
  const history = createLoadHistory()
  poll(history, running(1, 90), start)
  expect(history.load(60, start + 60 * minute).load).toEqual({})
  expect(history.load(60, start + 59 * minute).load[1]?.[0]).toBe(90)
})

test('a day is kept and no more, whatever lies between two polls', () => {
  const history = createLoadHistory()
  for (let at = 0; at <= longestLoad + 5; at++) poll(history, running(1, at % 100), start + at * minute)
  const whole = history.load(longestLoad, start + (longestLoad + 5) * minute).load[1]
  expect(whole).toHaveLength(longestLoad)
  expect(whole?.slice(0, 2)).toEqual([6, 7])
  expect(whole).not.toContain(null)
  poll(history, running(1, 33), start + 9 * longestLoad * minute)
  const later = history.load(longestLoad, start + 9 * longestLoad * minute).load[1]
  expect(later?.filter(value => value !== null)).toEqual([33])
})

test('time that goes back a little takes nothing with it but what would lie in the future', () => {
  const history = createLoadHistory()
  poll(history, running(1, 10), start)
  poll(history, running(1, 20), start + minute)
  poll(history, running(1, 30), start)
  expect(history.load(3, start + minute).load).toEqual({ 1: [null, 30, null] })
})

test('what has gone, or does not run, leaves nothing behind', () => {
  const history = createLoadHistory()
  poll(history, { ...running(1, 10), ...running(2, 20) }, start)
  poll(history, running(2, 25), start + minute)
  poll(history, running(1, 40), start + 2 * minute)
  expect(history.load(3, start + 2 * minute).load).toEqual({ 1: [null, null, 40] })
})

test('what an instance tells of its GPUs is kept for each of them', () => {
  const history = createLoadHistory()
  poll(history, running(1, 80, 71), start)
  const gpus = [
    { index: 0, name: 'RTX 4090', load: 95, memoryUsed: 21_600, temperature: 68, power: 402 },
    { index: 1, name: 'RTX 4090', load: 71 },
    { index: 1_000_000, name: 'RTX 4090', load: 1 },
  ]
  history.onMetrics(1, { gpus }, start + minute)
  expect(history.metrics(1, 2, start + minute)).toEqual({
    minute: start / 60 + 1,
    load: [80, null],
    temperature: [71, null],
    gpus: {
      0: { load: [null, 95], memoryUsed: [null, 21_600], temperature: [null, 68], power: [null, 402] },
      1: { load: [null, 71] },
    },
  })
  expect(history.metrics(2, 2, start + minute)).toEqual({ minute: start / 60 + 1, gpus: {} })
})
