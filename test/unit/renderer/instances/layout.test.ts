import { expect, test } from 'vitest'
import {
  type Layout,
  movedPane,
  panesOf,
  placesOf,
  splitPanes,
  withoutPane,
} from '#renderer/screens/instances/terminal/layout.ts'

const one: Layout<string> = { kind: 'pane', pane: 'a' }

test('a split pane shares its room equally with the new one', () => {
  const { panes, dividers } = placesOf(splitPanes(splitPanes(one, 'a', 'right', 'b'), 'b', 'down', 'c'))
  expect(panes).toEqual([
    { pane: 'a', box: { x: 0, y: 0, width: 0.5, height: 1 } },
    { pane: 'b', box: { x: 0.5, y: 0, width: 0.5, height: 0.5 } },
    { pane: 'c', box: { x: 0.5, y: 0.5, width: 0.5, height: 0.5 } },
  ])
  expect(dividers).toHaveLength(2)
})

test('a closed pane leaves its room to its neighbour, and the last leaves no layout', () => {
  const three = splitPanes(splitPanes(one, 'a', 'right', 'b'), 'b', 'down', 'c')
  const two = withoutPane(three, 'a')
  expect(two && panesOf(two)).toEqual(['b', 'c'])
  expect(withoutPane(one, 'a')).toBeUndefined()
  expect(withoutPane(three, 'z')).toBe(three)
})

test('a divider moves within bounds and moves no other', () => {
  const three = splitPanes(splitPanes(one, 'a', 'right', 'b'), 'b', 'down', 'c')
  const [, inner] = placesOf(three).dividers
  if (!inner) throw new Error('no second line')
  const after = movedPane(three, inner.split, 0.99)
  expect(placesOf(after).dividers.map(({ share }) => share)).toEqual([0.5, 0.85])
})
