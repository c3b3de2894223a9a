import fc from 'fast-check'
import { expect, test } from 'vitest'
import { movedToNewMachine } from '#core/runs/changes.ts'
import { begunBy, lostBy, overdueTraining, savedBy, seenRunning } from '#core/runs/lost-time.ts'
import type { Run } from '#core/runs/model.ts'
import { lossWords, movesWords } from '#shared/automation/run.ts'
import { instanceView } from '../../views.ts'
import { projectRun } from './stored-run.ts'

/** What happens to a command on one machine, with seconds in between: a whole download, or a poll. */
const event = fc.record({ after: fc.nat(200), is: fc.constantFrom('downloaded', 'polled') })
const machine = fc.record({ events: fc.array(event, { maxLength: 6 }), endsAfter: fc.nat(1000) })

test('a run has lost what its command did since the last whole download, on all machines it left', () => {
  fc.assert(
    fc.property(fc.array(machine, { minLength: 1, maxLength: 4 }), machines => {
      let run: Run = projectRun()
      let [time, expected, cost] = [1000, 0, 0]
      let isSure = true
      for (const { events, endsAfter } of machines) {
        run = { ...run, step: 'running', begun: true, begunAt: time }
        let [whole, seen] = [time, time]
        for (const { after, is } of events) {
          time += after
          if (is === 'downloaded') run = { ...run, wholeAt: time }
          else
            run = { ...run, ...seenRunning(run, instanceView({ state: 'running', costPerHour: 3600 }), time) }
          if (is === 'downloaded') whole = time
          else seen = time
        }
        time += endsAfter
        expected += time - whole
        isSure &&= time - seen <= 300
        // A second costs a micro-dollar.
        cost += run.paidPerHour === undefined ? 0 : time - whole
        run = { ...run, ...movedToNewMachine(run, 'r0000000000000002', time) }
        expect(run.lost).toEqual({ seconds: expected, isUpTo: !isSure })
        expect(run.lostCost).toBe(cost)
      }
      expect(movesWords(run)).toMatch(new RegExp(`^${machines.length} move`))
    }),
  )
})

test('a checkpoint is overdue once three would have saved what only its machine has', () => {
  const runs = (checkpoint: number | undefined, more: Partial<Run> = {}) => ({
    ...projectRun({ project: { spec: { run: 'x', checkpoint } } }),
    step: 'running' as const,
    begunAt: 1000,
    ...more,
  })
  expect(overdueTraining(runs(60), 1180)).toBeUndefined()
  expect(overdueTraining(runs(60), 1181)).toBe(181)
  expect(overdueTraining(runs(60, { wholeAt: 1100 }), 1280)).toBeUndefined()
  expect(overdueTraining(runs(60, { step: 'fetching' }), 5000)).toBeUndefined()
  expect(overdueTraining(runs(undefined), 5000)).toBeUndefined()
})

test('a command’s time counts from when what it goes on from is in its place on its machine', () => {
  const run = { ...projectRun(), step: 'running' as const, begunAt: 1000 }
  expect(begunBy(run, 'starting', 1400)).toBe(1400)
  expect(begunBy(run, 'running', 1500)).toBe(1000)
  expect(begunBy({ ...run, step: 'setup' }, 'starting', 1400)).toBe(1000)
  // The machine has nothing then, and isn't kept.
  expect(movedToNewMachine({ ...run, instance: 7, begunAt: 1400 }, 'r0000000000000002', 1405)).toMatchObject({
    lost: { seconds: 5 },
    leaving: [{ seconds: 5 }],
  })
})

test('nothing is lost where the command had not begun, and what it did until its end where that is not here', () => {
  expect(lostBy(projectRun({ step: 'setup' }), 2000)).toBeUndefined()
  const ended = projectRun({ step: 'fetching', begunAt: 1000, seenAt: 1400 })
  expect(lostBy(ended, 2000)).toEqual({ seconds: 400, isUpTo: true })
})

test('what it leaves on its machine is the same alone and in a sweep', () => {
  const project = { spec: { run: 'x', results: ['out'] } }
  const sweep = { id: 'q0000000000000001', index: 0, attempt: 0 }
  const leaving = (more: Partial<Run>) =>
    movedToNewMachine({ ...projectRun({ project }), ...more, begunAt: 1000 }, 'r0000000000000002', 2000)
      .leaving
  expect(leaving({ sweep })).toEqual(leaving({}))
  expect(leaving({ sweep })).toMatchObject([{ instance: 7, paths: ['out'], seconds: 1000 }])
})

test('what was brought is not lost, and Spending says what the rest cost', () => {
  const lost = { lost: { seconds: 600, isUpTo: false }, lostCost: 50_000 }
  const after = savedBy(projectRun(lost), { seconds: 480, isUpTo: false })
  expect(after).toMatchObject({ lost: { seconds: 120, isUpTo: false }, lostCost: 10_000 })
  expect(savedBy(projectRun(lost), { seconds: 900, isUpTo: false })).toMatchObject({
    lost: { seconds: 0 },
    lostCost: 0,
  })
  // All of it is lost where the command can't go on from what came.
  expect(savedBy(projectRun(lost), { seconds: 480, isUpTo: true })).toMatchObject({
    lost: { seconds: 600, isUpTo: true },
    lostCost: lost.lostCost,
    brought: 480,
  })
  expect(lossWords([after, lost, {}])).toBe(
    'Moves lost 12 min of training in 2 runs, which cost about $0.06.',
  )
  expect(lossWords([{ lost: { seconds: 600, isUpTo: true } }])).toContain(
    'lost up to 10 min of training in 1 run',
  )
  expect(lossWords([{}])).toBe('')
})

test('moves are told in words', () => {
  expect(movesWords({ moves: 2, lost: { seconds: 100, isUpTo: false } })).toBe(
    '2 moves, 1 min 40 s of training lost',
  )
  expect(movesWords({ moves: 1, lost: { seconds: 7200, isUpTo: true } })).toBe(
    '1 move, up to 2 h of training lost',
  )
  expect(movesWords({ moves: 1 })).toBe('1 move, no training lost')
  expect(movesWords({ moves: 0 })).toBe('')
})
