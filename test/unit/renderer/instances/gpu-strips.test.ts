import { expect, test } from 'vitest'
import {
  gpuStrips,
  machineStrips,
  oddGpus,
  type StripRow,
  stripColumns,
  thinnedSeries,
} from '#renderer/screens/instances/details/strips.ts'

const one = {
  state: 'running' as const,
  gpu: { name: 'RTX 4090', count: 1 },
  gpuLoad: 80,
  gpuTemperature: 70,
}
const eight = { ...one, gpu: { name: 'H100', count: 8 } }

function gpu(index: number, load: number, temperature = 60) {
  return { index, name: 'H100', load, memoryUsed: 1024, memoryTotal: 2048, temperature, power: 300 }
}

test('without a connection the strips show the service’s hour and current values', () => {
  const history = { minute: 100, load: [10, null, 30], temperature: [60, 61, 62], gpus: {} }
  const [strips, ...others] = gpuStrips(history, undefined, one)
  expect(others).toEqual([])
  expect(strips?.index).toBe(0)
  expect(strips?.strips.load).toEqual({ course: [10, null, 80], now: 80 })
  expect(stripColumns(strips ? [strips] : [], []).map(({ title }) => title)).toEqual(['Load', 'Temperature'])
  expect(gpuStrips(history, undefined, eight).map(({ index }) => index)).toEqual(['all'])
})

test('gaps of the only GPU’s own metrics are filled from the service', () => {
  const history = {
    minute: 100,
    load: [10, 20, 30],
    gpus: { 0: { load: [null, null, 35], power: [null, null, 99] } },
  }
  const [strips] = gpuStrips(history, { gpus: [{ index: 0, name: 'RTX 4090', load: 40 }] }, one)
  expect(strips?.strips.load).toEqual({ course: [10, 20, 40], now: 40 })
  expect(strips?.strips.power).toEqual({ course: [null, null, 99], now: undefined })
})

test('the service’s hour is known before the first own minute, and what comes has its place', () => {
  const history = { minute: 100, load: [10, 20, 30], gpus: {} }
  const names = (rows: readonly StripRow[]) => rows.flatMap(({ strips }) => Object.keys(strips))
  const [before] = gpuStrips(history, undefined, one, true)
  expect(before?.strips.memoryUsed).toEqual({ course: [] })
  const now = gpuStrips(history, { gpus: [gpu(0, 40)] }, one, true)
  expect(now[0]?.strips.load).toEqual({ course: [10, 20, 40], now: 40 })
  expect(names(now).sort()).toEqual(names(before ? [before] : []).sort())
  const host = { state: 'running' as const, cpu: { load: 12, memoryUsed: 8, memoryTotal: 64 } }
  const traffic = { received: 1, sent: 1 }
  expect(names(machineStrips(undefined, undefined, host, true)).sort()).toEqual(
    names(machineStrips(undefined, { traffic }, host, true)).sort(),
  )
  expect(gpuStrips(history, { gpus: [] }, one, true)[0]?.strips.memoryUsed).toBeUndefined()
})

test('several GPUs have a line each below one for all, and columns share a scale', () => {
  const gpus = gpuStrips(undefined, { gpus: [gpu(1, 90), gpu(0, 80, 72)] }, eight)
  expect(gpus.map(({ index }) => index)).toEqual(['all', 0, 1])
  const shown = stripColumns(gpus, [gpu(1, 90), gpu(0, 80)])
  expect(shown.map(({ title, head, top }) => [title, head, top])).toEqual([
    ['Load, mean', '85%', 100],
    ['Memory', '2.0 of 4.0 GB', 2048],
    ['Temperature, hottest', '72 °C', 100],
    ['Power', '600 W', 300],
  ])
})

test('the machine shows CPU and RAM as the service reports them, and traffic over SSH', () => {
  const machine = { cpu: [5, null], received: [1_000, 2_000] }
  const cpu = { load: 12, memoryUsed: 8, memoryTotal: 64 }
  const history = { minute: 1, machine, gpus: {} }
  const rows = machineStrips(
    history,
    { traffic: { received: 3_200_000, sent: 0 } },
    { state: 'running', cpu },
  )
  expect(stripColumns(rows, [], 64).map(({ title, head, top }) => [title, head, top])).toEqual([
    ['CPU', '12%', 100],
    ['RAM', '8 GB', 64],
    ['Network in', '3.2 MB/s', 4_000_000],
    ['Network out', '0 B/s', 1_000_000],
  ])
  expect(rows[0]?.strips.cpu?.course).toEqual([5, 12])
  expect(machineStrips(undefined, undefined, { state: 'stopped', cpu })).toEqual([])
})

test('a stopped instance has no current values', () => {
  const history = { minute: 100, load: [10, 20, 30], gpus: {} }
  const [strips] = gpuStrips(history, undefined, { ...one, state: 'stopped' })
  expect(strips?.strips).toEqual({ load: { course: [10, 20, 30], now: undefined } })
})

test('an underused or a hot GPU is named', () => {
  const odd = (...gpus: ReturnType<typeof gpu>[]) =>
    oddGpus(gpuStrips(undefined, { gpus }, eight)).map(({ words }) => words)
  expect(odd(gpu(0, 95), gpu(1, 96), gpu(2, 71))).toEqual(['GPU 2 is at 71% load, the others at 96%.'])
  expect(odd(gpu(0, 95), gpu(1, 90, 86))).toEqual(['GPU 1 is at 86 °C and may throttle.'])
  expect(odd(gpu(0, 5), gpu(1, 30), gpu(2, 0))).toEqual([])
})

test('a long series is thinned to means of the known values', () => {
  expect(thinnedSeries([1, 3, null, 5, null, null, 7], 4)).toEqual([2, 5, null, 7])
  expect(thinnedSeries([1, null], 4)).toEqual([1, null])
})
