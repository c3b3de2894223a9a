import { expect, test } from 'vitest'
import {
  type Layout,
  movedPane,
  panesOf,
  placesOf,
  splitPanes,
  withoutPane,
} from '../../../../renderer/screens/instances/terminal/layout.ts'

const one: Layout<string> = { kind: 'pane', pane: 'a' }

test('a pane that is split leaves half of its room to the fresh one', () => {
  const { panes, dividers } = placesOf(splitPanes(splitPanes(one, 'a', 'right', 'b'), 'b', 'down', 'c'))
  expect(panes).toEqual([
    { pane: 'a', box: { x: 0, y: 0, width: 0.5, height: 1 } },
    { pane: 'b', box: { x: 0.5, y: 0, width: 0.5, height: 0.5 } },
    { pane: 'c', box: { x: 0.5, y: 0.5, width: 0.5, height: 0.5 } },
  ])
  expect(dividers).toHaveLength(2)
})

test('the room of a pane that goes is its neighbour’s, and of the last nothing is left', () => {
  const three = splitPanes(splitPanes(one, 'a', 'right', 'b'), 'b', 'down', 'c')
  const two = withoutPane(three, 'a')
  expect(two && panesOf(two)).toEqual(['b', 'c'])
  expect(withoutPane(one, 'a')).toBeUndefined()
  expect(withoutPane(three, 'z')).toBe(three)
})

test('a line is moved within bounds, and no other with it', () => {
  const three = splitPanes(splitPanes(one, 'a', 'right', 'b'), 'b', 'down', 'c')
  const [, inner] = placesOf(three).dividers
  if (!inner) throw new Error('no second line')
  const after = movedPane(three, inner.split, 0.99)
  expect(placesOf(after).dividers.map(({ share }) => share)).toEqual([0.5, 0.85])
})
