import fc from 'fast-check'
import { expect, test } from 'vitest'
import { failsAfter, nextRunMove, pauseAfter } from '#core/runs/decide.ts'
import { givesUpAfter, waitingOf, waitOf } from '#core/runs/waiting.ts'
import { isGoing, RunStep } from '#shared/automation/run.ts'
import { isLongWait, waitingLine } from '#shared/automation/waiting.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import type { RentalStep, RentalView } from '#shared/market/rental-view.ts'
import { projectRun } from './stored-run.ts'

const { project } = projectRun()
const rentalSteps: RentalStep[] = [
  'searching',
  'asking',
  'lost',
  'unclear',
  'waiting',
  'late',
  'entering',
  'dropping',
  'ready',
]
const states: InstanceState[] = ['running', 'loading', 'stopping', 'stopped', 'offline', 'silent', 'waiting']

const rental = fc.record({
  step: fc.constantFrom(...rentalSteps),
  since: fc.integer({ min: 0, max: 1000 }),
  deadline: fc.integer({ min: 60, max: 3600 }),
}) as fc.Arbitrary<RentalView>
const instance = fc.oneof(
  fc.constant(undefined),
  fc.constant('gone' as const),
  fc.constantFrom(...states).map(state => ({ id: 7, state }) as InstanceView),
)

test('every step of a run in progress says what it waits for, in whatever state its machine is', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RunStep.options),
      fc.option(rental, { nil: undefined }),
      instance,
      fc.boolean(),
      fc.option(fc.constant({ problem: { code: 'offline', message: 'No answer.' }, nextTryAt: 1060 }), {
        nil: undefined,
      }),
      (step, ofRental, view, begun, outage) => {
        const run = { ...projectRun(), step, begun }
        const snapshot = { awaited: undefined, instance: view, limit: undefined, now: 1000 }
        const wait = waitOf(run, nextRunMove(run, snapshot).do, { snapshot, rental: ofRental, outage })
        expect(wait !== undefined).toBe(isGoing(run))
        if (!wait) return
        const line = waitingLine({ since: 900, ...wait }, 1000)
        expect(line).toMatch(/^(?:Waiting for|No output) .* for \d/)
        expect(line.includes('No answer.')).toBe(wait.problem !== undefined)
      },
    ),
  )
})

test('the time until a move is given up is the sum of the pauses that remain', () => {
  const codes = [
    'ssh_unreachable',
    'sync_failed',
    'not_prepared',
    'disk_full',
    'host_key_changed',
    'rate_limited',
  ]
  fc.assert(
    fc.property(fc.constantFrom(...codes), fc.nat(40), fc.boolean(), (code, fails, isOnline) => {
      const failed = {
        run: { step: 'sending', project },
        move: 'send',
        fails,
        same: 1,
        isOnline,
        clock: 0,
      } as const
      const problem = { code, message: 'It failed.' }
      let [waited, tries, same] = [0, fails, 1]
      for (let pause = pauseAfter(problem, failed); pause !== undefined && same < 300; same += 1) {
        waited += pause
        tries = failsAfter(tries, isOnline)
        pause = pauseAfter(problem, { ...failed, fails: tries, same: same + 1 })
      }
      expect(givesUpAfter(problem, failed)).toBe(same >= 300 ? undefined : waited)
    }),
  )
})

test('a wait is said at once with its error, else after some seconds, with the next try and the end', () => {
  const waiting = { for: 'folder', since: 100 } as const
  expect([isLongWait(waiting, 105), isLongWait(waiting, 115)]).toEqual([false, true])
  const problem = { code: 'ssh_unreachable', message: 'Connection refused.' }
  const failing = { ...waiting, problem, nextTryAt: 130, givesUpAt: 1915 }
  expect(isLongWait(failing, 101)).toBe(true)
  expect(waitingLine(failing, 115)).toBe(
    'Waiting for the machine to take the folder for 15 s. Next try in 15 s. Gives up in about 30 min. Last error: Connection refused.',
  )
  expect(waitingLine(failing, 140)).toContain('Trying now.')
})

test('a run with a time waits for it, begins up to an hour late, and else the next day', () => {
  const timed = projectRun({ step: 'waiting', instance: undefined, rental: undefined, startsAt: 1000 })
  const at = (now: number) =>
    nextRunMove(timed, { awaited: undefined, instance: undefined, limit: undefined, now }).do
  expect([at(999), at(1000), at(4599), at(4600)]).toEqual(['wait', 'begin', 'begin', 'postpone'])
  const wait = waitOf(timed, 'wait', {
    snapshot: { awaited: undefined, instance: undefined },
    rental: undefined,
    outage: undefined,
  })
  const waiting = { since: 400, for: 'output' as const, ...wait }
  expect(isLongWait(waiting, 400)).toBe(true)
  expect(waitingLine(waiting, 400)).toBe('Waiting for its time to begin for 0 s. Begins in 10 min.')
})

test('a machine that SSH doesn’t let in yet says until when it is tried', () => {
  const run = { ...projectRun(), step: 'waiting' as const }
  const snapshot = { awaited: undefined, instance: undefined }
  const entering = { step: 'entering', since: 900, deadline: 600, givesUpAt: 1500 } as RentalView
  expect(waitOf(run, 'wait', { snapshot, rental: entering, outage: undefined })).toMatchObject({
    for: 'ssh',
    since: 900,
    givesUpAt: 1500,
  })
})

test('a program that has begun is waited for no more, and of several nodes only the first one is to print', () => {
  const starting = { for: 'start' as const, from: 500 }
  const run = projectRun({ begun: false })
  expect(waitingOf(run, starting, undefined)).toEqual({ for: 'start', since: 500 })
  const begun = projectRun({ begun: true, startedAt: 510, outputAt: 530 })
  expect(waitingOf(begun, starting, undefined)).toEqual({ for: 'output', since: 530 })
  const worker = projectRun({ begun: true, node: { of: 'x0000000000000001', rank: 1, count: 2 } })
  expect(waitingOf(worker, starting, undefined)).toBeUndefined()
})
