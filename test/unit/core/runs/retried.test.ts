import fc from 'fast-check'
import { expect, test } from 'vitest'
import { failed, movedToNewMachine } from '#core/runs/changes.ts'
import { setupFailed } from '#core/runs/messages.ts'
import type { Run } from '#core/runs/model.ts'
import { retriedElsewhere, retriedRun } from '#core/runs/seeking.ts'
import { projectRun } from './stored-run.ts'

const reading = fc.record({ failed: fc.nat(5), pause: fc.nat(3), now: fc.nat(5) })

test('failed attempts of a command count on all machines, each once, and a next one keeps its time', () => {
  const machines = fc.array(fc.array(reading, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(machines, all => {
      let run: Run = projectRun()
      let time = 0
      let earlier = 0
      for (const readings of all) {
        let failed = 0
        for (const { failed: more, pause, now } of readings) {
          failed = Math.max(failed, more)
          time += now
          const last = run.retried
          run = {
            ...run,
            retried: retriedRun(run, failed === 0 ? undefined : { failed, code: 1, pause }, time),
          }
          expect(run.retried?.times ?? 0).toBe(earlier + failed)
          const isSame = last?.times === run.retried?.times && last?.nextAt !== undefined
          if (isSame && failed > 0 && pause > 0) expect(run.retried?.nextAt).toBe(last.nextAt)
        }
        earlier += failed
        run = { ...run, ...movedToNewMachine(run, 'r0000000000000002', time) }
        expect(run.retried?.before ?? 0).toBe(earlier)
        expect(run.retried?.nextAt).toBeUndefined()
      }
    }),
  )
})

test('is tried again elsewhere as often as agreed, after the named codes, and not where it fails at once three times', () => {
  const retry = { times: 4, on: [9, 137], elsewhere: true }
  const failsAfter = (seconds: readonly number[], codes: readonly number[] = [], more: Partial<Run> = {}) => {
    let run: Run = { ...projectRun({ project: { spec: { run: 'x', retry } } }), ...more }
    let times = 0
    for (const [index, each] of seconds.entries()) {
      const again = retriedElsewhere({ ...run, begunAt: 1000 }, codes[index] ?? 9, 1000 + each)
      if (!again) return times
      times += 1
      expect(again).toMatchObject({ movingSince: 1000 + each, retried: { times, before: times } })
      run = { ...run, ...again, ...movedToNewMachine({ ...run, ...again }, 'r0000000000000002', 1000 + each) }
    }
    return times
  }
  expect(failsAfter([90, 90, 90, 90, 90])).toBe(4)
  expect(failsAfter([5, 5, 5, 5])).toBe(2)
  expect(failsAfter([5, 5, 90, 5, 5])).toBe(4)
  expect(failsAfter([90, 90], [137, 1])).toBe(1)
  expect(failsAfter([90], [9], { endedByUser: true })).toBe(0)
  expect(
    retriedElsewhere(projectRun({ project: { spec: { run: 'x', retry: { times: 4 } } } }), 9, 2000),
  ).toBeUndefined()
})

test('a run on several machines, which can’t be resumed, is not told to resume', () => {
  const node = { of: 'x0000000000000001', rank: 0, count: 2 }
  const adviceTo = (run: Parameters<typeof projectRun>[0]) =>
    failed(projectRun(run), setupFailed(1, ''), 100).problem?.advice
  expect([adviceTo({}), adviceTo({ node })]).toEqual([
    'Its last lines say why. Fix it, then resume.',
    'Its last lines say why. Fix it, then run it again.',
  ])
})
