import { expect, test } from 'vitest'
import { createLoadHistory, type LoadRecorder } from '#core/instances/load-history.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { longestLoad } from '#shared/instance/metrics.ts'
import { instanceView } from '#test/unit/views.ts'

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

function poll(history: LoadRecorder, instances: Record<string, InstanceView>, at: number): void {
  history.onPoll({ account: { instances }, at })
}

test('a minute holds the last value polled in it', () => {
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

test('minutes beyond the usual gap between polls have no value', () => {
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

test('values from before the last hour are not part of it', () => {
  const history = createLoadHistory()
  poll(history, running(1, 90), start)
  expect(history.load(60, start + 60 * minute).load).toEqual({})
  expect(history.load(60, start + 59 * minute).load[1]?.[0]).toBe(90)
})

test('one day of values is kept, whatever the gap between two polls', () => {
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

test('a small step back in time drops only values that then lie in the future', () => {
  const history = createLoadHistory()
  poll(history, running(1, 10), start)
  poll(history, running(1, 20), start + minute)
  poll(history, running(1, 30), start)
  expect(history.load(3, start + minute).load).toEqual({ 1: [null, 30, null] })
})

test('an instance missing from a poll loses its history', () => {
  const history = createLoadHistory()
  poll(history, { ...running(1, 10), ...running(2, 20) }, start)
  poll(history, running(2, 25), start + minute)
  poll(history, running(1, 40), start + 2 * minute)
  expect(history.load(3, start + 2 * minute).load).toEqual({ 1: [null, null, 40] })
})

test('the metrics an instance reports are kept for each GPU', () => {
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

test('CPU and RAM of polls and the traffic of a connection are courses of the machine', () => {
  const history = createLoadHistory()
  const instances = { 1: { ...instanceView({ id: 1, state: 'running' }), cpu: { load: 20, memoryUsed: 4 } } }
  poll(history, instances, start)
  history.onMetrics(1, { gpus: [], traffic: { received: 1000, sent: 10 } }, start)
  expect(history.metrics(1, 1, start)).toEqual({
    minute: start / 60,
    machine: { cpu: [20], ram: [4], received: [1000], sent: [10] },
    gpus: {},
  })
})
