import { expect, test } from 'vitest'
import { bestMatches, pieces } from '#renderer/frame/palette/match.ts'

const names = ['Go to Instances', 'Stop llama #4711', 'Terminal llama #4711', 'Restop', 'Stop all instances…']
const found = (typed: string) => bestMatches(names, name => [name], typed, 10)

test('every typed word must match, in any order', () => {
  expect(found('llama stop')).toEqual(['Stop llama #4711'])
  expect(found('llama nothing')).toEqual([])
})

test('names that start with the word come first', () => {
  expect(found('stop').at(-1)).toBe('Restop')
  expect(found('4711 t')[0]).toBe('Terminal llama #4711')
})

test('further words find it too, after all that have the word themselves', () => {
  const items = [
    ['Rent a GPU', 'new volume'],
    ['Account: Volumes', 'storage'],
    ['Open', ''],
  ] as const
  const first = (typed: string) => bestMatches(items, item => item, typed, 10).map(([label]) => label)
  expect(first('volume')).toEqual(['Account: Volumes', 'Rent a GPU'])
  expect(first('gpu new')).toEqual(['Rent a GPU'])
  // Within a word nobody sees why.
  expect(first('rage')).toEqual([])
})

test('an empty search lists everything in order, up to the limit', () => {
  expect(found(' ')).toEqual(names)
  expect(bestMatches(names, name => [name], '', 2)).toEqual(names.slice(0, 2))
})

test('the first match of each word is marked, and the text stays whole', () => {
  const marked = (text: string, typed: string) =>
    pieces(text, typed)
      .map(({ text, hit }) => (hit ? `[${text}]` : text))
      .join('')
  expect(marked('Search offers: H100 SXM', 'h100 sea')).toBe('[Sea]rch offers: [H100] SXM')
  expect(marked('Settings', 'zz')).toBe('Settings')
  expect(marked('aaa', 'aa a')).toBe('[aa]a')
})
