import { expect, test } from 'vitest'
import {
  drawn,
  gapsIn,
  gapsOf,
  gapWords,
  panelLabel,
  panelReading,
  panelsOf,
} from '#renderer/screens/instances/details/monitorPanels.ts'
import { gpuStrips, type OddGpu, stripColumns } from '#renderer/screens/instances/details/strips.ts'
import { timeOfDay } from '#shared/format/time.ts'

function gpu(index: number, load: number, temperature = 60) {
  return { index, name: 'H100', load, memoryUsed: 1024, memoryTotal: 2048, temperature, power: 300 }
}
function panels(loads: readonly number[], odd: readonly OddGpu[] = []) {
  const gpus = loads.map((load, index) => gpu(index, load))
  const rows = gpuStrips(
    undefined,
    { gpus },
    { state: 'running', gpu: { name: 'H100', count: loads.length } },
  )
  return panelsOf(rows, stripColumns(rows, gpus), 4, odd)
}

test('one GPU needs no name, two have a line each, and of more there is the mean and the odd one', () => {
  const named = (loads: readonly number[], odd?: readonly OddGpu[]) =>
    panels(loads, odd)[0]?.lines.map(({ name, kind, now }) => [name, kind, now])
  expect(named([80])).toEqual([['', 'main', 80]])
  expect(named([80, 60])).toEqual([
    ['GPU 0', 'main', 80],
    ['GPU 1', 'second', 60],
  ])
  const odd = [{ index: 2, measure: 'load', words: '' }] as const
  expect(named([90, 90, 30], odd)).toEqual([
    ['Mean', 'main', 70],
    ['GPU 2', 'second', 30],
  ])
  expect(panels([90, 90, 30])[0]?.each?.map(({ name, now }) => [name, now])).toEqual([
    ['GPU 0', 90],
    ['GPU 1', 90],
    ['GPU 2', 30],
  ])
})

test('minutes in which no GPU was read have the mean that the service told', () => {
  const of = (count: number) => {
    const gpus = Array.from({ length: count }, (_, index) => gpu(index, 80))
    const history = { minute: 0, load: [70, 72, null, 74], gpus: { 0: { load: [null, 60, null, 62] } } }
    const rows = gpuStrips(history, { gpus }, { state: 'running', gpu: { name: 'H100', count } })
    const [load] = panelsOf(rows, stripColumns(rows, gpus), 4)
    if (!load) throw new Error('there is no panel')
    return load
  }
  const [few, many] = [of(2), of(3)]
  expect(few.unread).toEqual([70, null, null, null])
  expect(many.lines[0]).toMatchObject({ name: 'Mean', course: [70, 60, null, 80] })
  expect(gapsIn({ ...few, unread: [70, 72, 73, 74] }, [few])).toEqual([])
})

test('all panels cover the same minutes, however little is known', () => {
  for (const { lines } of panels([80, 60])) for (const { course } of lines) expect(course).toHaveLength(4)
  expect(panels([80])[0]?.lines[0]?.course).toEqual([null, null, null, 80])
})

test('a panel is read out with its units, now and at a minute', () => {
  const [load, , power] = panels([80, 60])
  expect(load && panelReading(load, undefined)).toBe('Load: GPU 0 80%, GPU 1 60%')
  expect(load && panelReading(load, 0)).toBe('Load: GPU 0 unknown, GPU 1 unknown')
  expect(power && panelLabel(power)).toMatch(/^Power: GPU 0 300 W now; from 300 W to 300 W\./)
})

test('a gap is where nothing is known between minutes that are, longer than a reading takes', () => {
  const [panel] = panels([80])
  if (!panel) throw new Error('there is no panel')
  const of = (course: readonly (number | null)[]) => ({
    ...panel,
    lines: panel.lines.map(line => ({ ...line, course: [...course] })),
  })
  expect(gapsOf([of([null, null, null, 5, null, 6])])).toEqual([])
  expect(gapsOf([of([5, null, null, 6, 7])])).toEqual([{ from: 0, to: 3 }])
  // Another measure is known there.
  expect(gapsOf([of([5, null, null, 6]), of([null, 1, 1, null])])).toEqual([])
  // A panel has its own, since anything is known of the instance.
  const [later, first] = [of([null, null, null, null, null, 6]), of([null, 1, 1, 1, 1, 1])]
  expect(gapsIn(later, [first, later])).toEqual([{ from: 1, to: 5 }])
  expect(gapsIn(first, [first, later])).toEqual([])
  expect(gapsIn(of([null, null, null, null]), [of([1, 1, 1, 1])])).toEqual([{ from: 0, to: 3 }])
  expect(gapsIn({ ...of([null, null]), comes: true }, [of([1, 1])])).toEqual([])
  const until = 1_000_020
  expect(gapWords([{ from: 0, to: 3 }], 5, until)).toBe(
    `${timeOfDay(until - 240)} to ${timeOfDay(until - 60)}: no data.`,
  )
  expect(gapWords([], 5, until)).toBe('')
})

test('a line breaks where nothing is known, and stays within its box', () => {
  const { line, area } = drawn([0, 50, null, 200], { bottom: 0, top: 100 })
  expect(line).toBe('M0.0 100.0L333.3 50.0M1000.0 0.0L1000.0 0.0')
  expect(area.split('Z')).toHaveLength(3)
  expect(
    drawn(
      Array.from({ length: 1440 }, () => 5),
      { bottom: 0, top: 10 },
    ).line.split('L'),
  ).toHaveLength(240)
})
