import { expect, test } from 'vitest'
import { lineReader } from '#renderer/screens/instances/details/metricsWatch.svelte.ts'

const longest = 65_536

function linesOf(...chunks: string[]): string[] {
  const lines: string[] = []
  const read = lineReader(line => lines.push(line))
  for (const chunk of chunks) read(new TextEncoder().encode(chunk))
  return lines
}

test('lines are assembled from chunks, and an unfinished one waits', () => {
  expect(linesOf('on', 'e\ntw', 'o\nthr')).toEqual(['one', 'two'])
})

test('a line that grows too long over several chunks loses its end only', () => {
  const [long = '', next] = linesOf('a'.repeat(longest + 5), 'b'.repeat(10), 'c\nnext\n')
  expect(long).toBe('a'.repeat(longest))
  expect(next).toBe('next')
})
