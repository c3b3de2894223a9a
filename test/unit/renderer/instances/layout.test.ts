import { expect, test } from 'vitest'
import { lineChart } from '../../../../renderer/screens/instances/details/monitor/lineChart.ts'
import {
  type Layout,
  moved,
  panesOf,
  placesOf,
  split,
  without,
} from '../../../../renderer/screens/instances/terminal/layout.ts'

const one: Layout<string> = { kind: 'pane', pane: 'a' }

test('a pane that is split leaves half of its room to the fresh one', () => {
  const { panes, dividers } = placesOf(split(split(one, 'a', 'right', 'b'), 'b', 'down', 'c'))
  expect(panes).toEqual([
    { pane: 'a', box: { x: 0, y: 0, width: 0.5, height: 1 } },
    { pane: 'b', box: { x: 0.5, y: 0, width: 0.5, height: 0.5 } },
    { pane: 'c', box: { x: 0.5, y: 0.5, width: 0.5, height: 0.5 } },
  ])
  expect(dividers).toHaveLength(2)
})

test('the room of a pane that goes is its neighbour’s, and of the last nothing is left', () => {
  const three = split(split(one, 'a', 'right', 'b'), 'b', 'down', 'c')
  const two = without(three, 'a')
  expect(two && panesOf(two)).toEqual(['b', 'c'])
  expect(without(one, 'a')).toBeUndefined()
  expect(without(three, 'z')).toBe(three)
})

test('a line is moved within bounds, and no other with it', () => {
  const three = split(split(one, 'a', 'right', 'b'), 'b', 'down', 'c')
  const [, inner] = placesOf(three).dividers
  if (!inner) throw new Error('no second line')
  const after = moved(three, inner.split, 0.99)
  expect(placesOf(after).dividers.map(({ share }) => share)).toEqual([0.5, 0.85])
})

test('a chart’s line is broken where nothing was seen, and stays within its box', () => {
  const samples = [0, 3000, 6000, 60_000, 63_000].map((at, index) => ({ at, value: index === 4 ? 900 : 50 }))
  const chart = lineChart(samples, 0, 100_000, 100, { width: 100, height: 10 })
  expect(chart?.line).toBe('M0 5L3 5L6 5M60 5L63 0')
  expect(chart?.area).toBe('M0 5L3 5L6 5L6 10L0 10ZM60 5L63 0L63 10L60 10Z')
  expect(lineChart(samples.slice(0, 1), 0, 10, 1, { width: 1, height: 1 })).toBeUndefined()
})
