import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Limit } from '#shared/automation/limit.ts'
import { beforeStopWords, limitsBeforeStop, noticeCost, noticeProblem } from '#shared/project/before-stop.ts'

const limits = fc.array(
  fc.oneof(
    fc.integer({ min: 60, max: 100_000 }).map(seconds => ({ kind: 'duration' as const, seconds })),
    fc.integer({ min: 1, max: 10_000 }).map(cents => ({ kind: 'cost' as const, dollars: cents / 100 })),
  ),
  { maxLength: 2 },
)

test('limits act so much earlier that a command’s time before the stop fits, or that is refused', () => {
  const property = fc.property(
    limits,
    fc.integer({ min: 1, max: 600 }),
    fc.integer({ min: 1000, max: 5_000_000 }),
    (whens, at_most, price) => {
      const all: Limit[] = whens.map(when => ({ when, action: 'stop', asleep: false }))
      const before = { at_most }
      fc.pre(noticeProblem(all, before, price) === undefined)
      for (const [index, { when }] of limitsBeforeStop(all, before, price).entries()) {
        const agreed = whens[index]
        if (when.kind === 'duration' && agreed?.kind === 'duration')
          expect(when.seconds + at_most).toBeLessThanOrEqual(agreed.seconds)
        if (when.kind === 'cost' && agreed?.kind === 'cost')
          expect(when.dollars + noticeCost(before, price) / 1_000_000).toBeLessThanOrEqual(
            agreed.dollars + 1e-9,
          )
      }
    },
  )
  fc.assert(property)
})

test('a plan says what happens before a stop', () => {
  expect(beforeStopWords({ signal: 'USR1', run: './save.sh' }, true)).toEqual([
    'Before a stop by a limit or by you, the command gets SIGUSR1 and Berth runs ./save.sh, 1 min at most. Limits act that much earlier, so the maximum holds.',
  ])
  expect(beforeStopWords({ run: './save.sh' }, false).join()).not.toMatch(/Limits|maximum/)
  expect(beforeStopWords(undefined, true)).toEqual([])
})
