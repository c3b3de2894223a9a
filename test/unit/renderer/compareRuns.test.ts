import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparedFacts, comparedLines, lastLines } from '#renderer/screens/projects/compareRuns.ts'
import type { ProjectRunView } from '#shared/automation/run.ts'
import { projectRunView } from '#test/unit/views.ts'

const run = (changes: Partial<ProjectRunView>) =>
  projectRunView({ startedAt: 1100, endedAt: 1700, code: 0, gpu: { name: 'RTX 4090', count: 1 }, ...changes })

describe('two compared runs', () => {
  test('show which facts differ and which are unknown', () => {
    const first = run({ commit: { id: 'a'.repeat(40), branch: 'main' } })
    const second = run({ code: 2, endedAt: 2300, gpu: { name: 'H100', count: 2 } })
    const facts = comparedFacts([first, second], 3000)
    expect(facts.filter(({ differs }) => differs).map(({ name, values }) => [name, ...values])).toEqual([
      ['Ended as', 'Done', 'Ended with exit code 2'],
      ['Machine', '1 × RTX 4090', '2 × H100'],
      ['Commit', 'aaaaaaa of main', '–'],
      ['Took', '10 min', '20 min'],
      ['Exit code', '0', '2'],
    ])
  })

  test('show each line that only one of them has in its place', () => {
    expect(comparedLines('a\nb\nc\n', 'a\nB\nc\nd\n')).toEqual([
      { text: 'a', in: 'both' },
      { text: 'b', in: 'first' },
      { text: 'B', in: 'second' },
      { text: 'c', in: 'both' },
      { text: 'd', in: 'second' },
    ])
  })

  test('keep all lines of each in order', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }).map(lines => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (first, second) => {
        const lines = comparedLines(first, second)
        const without = (other: string) => lines.filter(line => line.in !== other).map(line => line.text)
        expect(without('second').join('\n')).toBe(first)
        expect(without('first').join('\n')).toBe(second)
        if (first === second) expect(lines.every(line => line.in === 'both')).toBe(true)
      }),
    )
  })

  test('end with the last lines of output, progress bars once', () => {
    expect(lastLines('one\ntwo\n\r 10%\r 20%\n', 2)).toBe('two\n 20%')
  })
})
