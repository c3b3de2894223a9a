import { expect, test } from 'vitest'
import { bestMatches } from '../../../../renderer/frame/palette/match.ts'

const names = ['Go to Instances', 'Stop llama #4711', 'Terminal llama #4711', 'Restop', 'Stop all instances…']
const found = (typed: string) => bestMatches(names, name => name, typed, 10)

test('every typed word must be there, in any order', () => {
  expect(found('llama stop')).toEqual(['Stop llama #4711'])
  expect(found('llama nothing')).toEqual([])
})

test('what begins with the word comes first', () => {
  expect(found('stop').at(-1)).toBe('Restop')
  expect(found('4711 t')[0]).toBe('Terminal llama #4711')
})

test('nothing typed lists everything, in its own order, up to the limit', () => {
  expect(found(' ')).toEqual(names)
  expect(bestMatches(names, name => name, '', 2)).toEqual(names.slice(0, 2))
})
