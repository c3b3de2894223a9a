import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stuckAlert } from '#core/runs/alerts.ts'
import { afterCommand, nextStep, withStaleWatchdog } from '#core/runs/changes.ts'
import {
  actionSparing,
  checkpointDue,
  leavesUnreached,
  nextRunMove,
  observedRun,
  stuckSince,
  watchdogOrder,
} from '#core/runs/decide.ts'
import { hasUndownloadedResults, type Run } from '#core/runs/model.ts'
import { isGoing } from '#shared/automation/run.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { commandRun, machine, projectRun, seen } from './stored-run.ts'

const run = commandRun()

const spec = { run: 'x' }

test('results are downloaded before the instance is stopped or destroyed, and nothing is done twice', () => {
  const wanted: Run = { ...run, fetch: '/root/results', afterwards: 'destroy' }
  expect(nextStep(wanted, 0).step).toBe('fetching')
  expect(nextStep({ ...wanted, fetched: true }, 0).step).toBe('ending')
  expect(nextStep({ ...wanted, fetched: true, finalAction: 'destroy' }, 0).step).toBe('done')
  expect(nextStep({ ...run, afterwards: 'stop' }, 0).step).toBe('ending')
  expect(nextStep(run, 0).step).toBe('done')
})

test('a run that its user gave up ends whatever its machine does meanwhile, once its command was told', () => {
  const givenUp = projectRun({
    givenUp: true,
    moves: 0,
    project: { spec: { run: 'x', outbid: { elsewhere: 3 } } },
  })
  for (const state of ['running', 'outbid', 'crashed', 'stopped'] as const)
    expect(nextRunMove(givenUp, seen({ instance: machine(state) }))).toEqual({ do: 'cancel' })
  expect(nextRunMove({ ...givenUp, step: 'cancelled' }, seen())).toEqual({ do: 'wait' })
})

test('the instance of a failed command is stopped, not destroyed, unless the user ended it', () => {
  const wanted: Run = { ...run, afterwards: 'destroy' }
  expect(afterCommand(wanted, 0, 9)).toMatchObject({ step: 'ending', afterwards: 'destroy', code: 0 })
  expect(afterCommand(wanted, 1, 9)).toMatchObject({ step: 'ending', afterwards: 'stop', code: 1 })
  expect(afterCommand({ ...wanted, fetch: '/root/out' }, 1, 9)).toMatchObject({
    step: 'fetching',
    afterwards: 'stop',
  })
  expect(afterCommand({ ...wanted, endedByUser: true }, 143, 9)).toMatchObject({ afterwards: 'destroy' })
  expect(afterCommand(run, 1, 9)).toMatchObject({ step: 'failed', problem: { code: 'command_failed' } })
})

test('a run whose instance was stopped and started again does not stop it once more', () => {
  expect(nextStep({ ...run, afterwards: 'stop', interrupted: true }, 0).step).toBe('done')
  expect(nextStep({ ...run, afterwards: 'destroy', fetch: '/root/a', interrupted: true }, 0).step).toBe(
    'fetching',
  )
})

test('the watchdog only stops an instance with results to be fetched first', () => {
  const wanted: Run = { ...run, afterwards: 'destroy', watchdog: true }
  expect(watchdogOrder(wanted)).toMatchObject({ action: 'destroy' })
  expect(watchdogOrder({ ...wanted, fetch: '/root/results' })).toMatchObject({ action: 'stop' })
  expect(watchdogOrder({ ...wanted, watchdog: false })).toBeUndefined()
  expect(watchdogOrder({ ...run, watchdog: true })).toBeUndefined()
})

test('a run seems stuck after a time without output and load; either restarts that time', () => {
  expect(stuckSince(run, 1599)).toBeUndefined()
  expect(stuckSince(run, 1600)).toBe(1000)
  expect(stuckSince({ ...run, stuckAfter: 0 }, 9999)).toBeUndefined()
  const printed = observedRun(run, { bytes: 3 }, 1500)
  expect(stuckSince(printed, 2099)).toBeUndefined()
  expect(stuckSince(printed, 2100)).toBe(1500)
  const loaded = observedRun(run, { bytes: 0, load: 60 }, 1500)
  expect(stuckSince(loaded, 2099)).toBeUndefined()
  expect(stuckSince(observedRun(run, { bytes: 0, load: 2 }, 1500), 1600)).toBe(1000)
  const unread = observedRun(run, { bytes: 0, load: 'unread' }, 1500)
  expect(stuckSince(unread, 1600)).toBe(1000)
  expect(stuckAlert('a00000001', unread, 'RTX 4090', 1600).body).toContain('and its GPU load can’t be read.')
  expect(observedRun(unread, { bytes: 0 }, 1600).loadUnread).toBe(true)
  expect(observedRun(unread, { bytes: 0, load: 0 }, 1600).loadUnread).toBe(false)
  expect(observedRun({ ...run, stuckSince: 1000 }, { bytes: 1 }, 1700).stuckSince).toBeUndefined()
  expect(observedRun({ ...run, stuckSince: 1000 }, { bytes: 0 }, 1700).stuckSince).toBe(1000)
})

test('the watchdog gets each new instruction, and never destroys results before their download', () => {
  const steps = ['running', 'fetching', 'ending', 'done', 'failed', 'cancelled'] as const
  const change = fc.record({
    afterwards: fc.constantFrom('nothing' as const, 'stop' as const, 'destroy' as const),
    step: fc.constantFrom(...steps),
    interrupted: fc.boolean(),
    fetched: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1 }), fc.boolean(), (changes, fetches) => {
      let now: Run = { ...run, watchdog: true, ...(fetches ? { fetch: '/root/results' } : {}) }
      /** The watchdog’s order: it hears of what is noted, and of nothing else. */
      let heard = watchdogOrder(now)
      for (const one of changes) {
        now = withStaleWatchdog(now, { ...now, ...one })
        if (now.watchdogStale) heard = watchdogOrder(now)
        now = { ...now, watchdogStale: false }
        expect(heard).toEqual(watchdogOrder(now))
        if (fetches) expect(heard?.action).not.toBe('destroy')
        if (!isGoing(now) || now.interrupted) expect(heard).toBeUndefined()
      }
    }),
  )
})

test('a command waits for its instance or rental, and fails if that is gone', () => {
  const waiting = commandRun({ step: 'waiting', startedAt: undefined, begun: undefined })
  expect(nextRunMove(waiting, seen())).toEqual({ do: 'step', step: 'running', instance: 7 })
  expect(nextRunMove(waiting, seen({ instance: machine('loading') }))).toEqual({ do: 'wait' })
  expect(nextRunMove(waiting, seen({ instance: 'gone' }))).toMatchObject({
    do: 'fail',
    problem: { code: 'no_such_instance' },
  })
  const rented = { ...waiting, instance: undefined, rental: 'r0000000000000001' }
  const awaited = (step: string) => nextRunMove(rented, seen({ instance: undefined, awaited: { step } }))
  expect(awaited('waiting')).toEqual({ do: 'wait' })
  expect(awaited('failed')).toMatchObject({ do: 'fail', problem: { code: 'rental_failed' } })
  expect(awaited('cancelled')).toMatchObject({ do: 'fail', quiet: true })
})

test('a command is followed over SSH, and is done if its watchdog destroyed the machine', () => {
  expect(nextRunMove(run, seen())).toEqual({ do: 'program' })
  expect(nextRunMove(run, seen({ instance: machine('stopped') }))).toEqual({ do: 'wait' })
  expect(nextRunMove(run, seen({ instance: 'gone' }))).toMatchObject({ do: 'fail' })
  const watched = commandRun({ afterwards: 'destroy', watchdog: true })
  expect(nextRunMove(watched, seen({ instance: 'gone' }))).toEqual({
    do: 'step',
    step: 'done',
    finalAction: 'destroy',
  })
})

test.each<[Partial<Run>, boolean]>([
  [{ step: 'running' }, true],
  [{ step: 'fetching' }, true],
  [{ step: 'ending', fetched: true }, false],
  [{ step: 'done' }, false],
  [{ step: 'waiting' }, false],
  [{ step: 'failed', startedAt: 1 }, true],
  [{ step: 'failed', startedAt: 1, fetched: true }, false],
  [{ step: 'failed', startedAt: undefined }, false],
])('a folder of a run that is %o would be lost with its instance: %s', (changes, unsafe) => {
  expect(hasUndownloadedResults(commandRun({ fetch: '/workspace/out', ...changes }))).toBe(unsafe)
  expect(hasUndownloadedResults(commandRun(changes))).toBe(false)
})

test('a limit that destroys only stops if a folder would be lost, and waits for a fetch', () => {
  const kept = commandRun({ step: 'failed', failedAt: 'fetching' })
  expect(actionSparing([], 'running')).toBe('destroy')
  expect(actionSparing([run], 'running')).toBe('stop')
  expect(actionSparing([kept], 'silent')).toBe('stop')
  expect(actionSparing([commandRun({ step: 'fetching' })], 'running')).toBeUndefined()
  expect(actionSparing([commandRun({ step: 'fetching', unreachedSince: 1 })], 'running')).toBe('stop')
  expect(actionSparing([kept], 'stopped')).toBeUndefined()
})

describe('a project’s run that runs', () => {
  test('downloads the results whatever the exit code of its command', () => {
    const results = { project: { spec: { run: 'x', results: 'out' } } }
    const ended = (code: number, fields: Partial<Run> = {}) =>
      afterCommand(
        projectRun({ ...results, lastLine: 'bash: mytrain: command not found', ...fields }),
        code,
        9,
      )
    expect(ended(0)).toMatchObject({ step: 'fetching', code: 0, outcome: undefined, endedAt: undefined })
    expect(ended(127)).toMatchObject({
      step: 'fetching',
      code: 127,
      outcome: {
        failedAt: 'running',
        problem: {
          code: 'command_failed',
          message: 'The command ended with exit code 127: mytrain is missing there.',
        },
      },
    })
    // The signal gives the command another exit code.
    expect(ended(143, { endedByUser: true })).toMatchObject({ step: 'fetching', outcome: undefined })
  })

  test('downloads a checkpoint when it’s due', () => {
    const often = (fields: Partial<Run> = {}) =>
      checkpointDue(projectRun({ project: { spec: { ...spec, checkpoint: 60 } }, ...fields }))
    expect([often(), often({ checkpointAt: 170 }), often({ step: 'fetching' })]).toEqual([
      160,
      230,
      undefined,
    ])
  })

  test('moves when its instance is lost, at most as often as its spec allows', () => {
    const twice = { ...spec, outbid: { elsewhere: 2 } }
    const outbid = seen({ instance: machine('outbid') })
    expect(nextRunMove(projectRun(), outbid)).toMatchObject({ do: 'fail', problem: { code: 'outbid' } })
    expect(nextRunMove(projectRun({ project: { spec: twice }, moves: 1 }), outbid)).toEqual({ do: 'move' })
    expect(nextRunMove(projectRun({ project: { spec: twice }, moves: 2 }), outbid)).toMatchObject({
      do: 'fail',
    })
    expect(nextRunMove(projectRun({ project: { spec: twice } }), seen({ instance: 'gone' }))).toEqual({
      do: 'move',
    })
  })

  test('that has ended well isn’t run again where its machine is lost, while that has its results', () => {
    const moving = projectRun({ project: { spec: { ...spec, results: 'out', outbid: { elsewhere: 2 } } } })
    const ended: Run = { ...moving, ...afterCommand(moving, 0, 9), begunOn: 7 }
    for (const state of ['outbid', 'crashed'] as const)
      expect(nextRunMove(ended, seen({ instance: machine(state) }))).toMatchObject({
        do: 'fail',
        problem: { code: state, message: expect.stringContaining('its newest results are only there') },
      })
    const gone = seen({ instance: 'gone' })
    expect(nextRunMove(ended, gone)).toEqual({ do: 'move' })
    expect(nextRunMove({ ...ended, code: 143, endedByUser: true }, gone)).toMatchObject({ do: 'fail' })
    const failing: Run = { ...moving, ...afterCommand(moving, 143, 9) }
    expect(nextRunMove(failing, seen({ instance: machine('outbid') }))).toEqual({ do: 'move' })
  })

  test.each(['crashed', 'unstartable'] as const)(
    'moves when its instance is %s, where its command ran there and its spec allows it',
    state => {
      const moving = projectRun({ project: { spec: { ...spec, outbid: { elsewhere: 1 } } } })
      const seenCrash = seen({ instance: machine(state) })
      const on = seenCrash.instance as InstanceView
      expect(nextRunMove({ ...moving, begunOn: on.id }, seenCrash)).toEqual({ do: 'move' })
      expect(nextRunMove({ ...moving, begunOn: on.id, moves: 1 }, seenCrash)).toMatchObject({ do: 'fail' })
      // By its image it would crash on any machine.
      expect(nextRunMove(moving, seenCrash)).toMatchObject({ do: 'fail', problem: { code: 'crashed' } })
    },
  )

  test.each(['offline', 'silent'] as const)(
    'moves when its instance was %s for a quarter of an hour',
    state => {
      const history = [
        { at: 100, state: 'running' as const, actualStatus: 'running' },
        { at: 1000, state: 'silent' as const, actualStatus: 'unknown' },
        { at: 1300, state, actualStatus: state },
      ]
      const away = { ...machine(state), history }
      const moving = projectRun({ project: { spec: { ...spec, outbid: { elsewhere: 1 } } } })
      const at = (now: number, run = moving) => nextRunMove(run, seen({ instance: away, now }))
      expect([at(1899), at(1900), at(1900, { ...moving, moves: 1 })]).toEqual([
        { do: 'wait' },
        { do: 'move' },
        { do: 'wait' },
      ])
      expect(at(1e6, projectRun())).toEqual({ do: 'wait' })
    },
  )

  test('leaves a machine that it can’t enter before its command has begun', () => {
    const moving = (step: Run['step'], moves = 0) =>
      projectRun({ step, moves, project: { spec: { ...spec, outbid: { elsewhere: 1 } } } })
    const closed = { code: 'ssh_closed' }
    expect(leavesUnreached(moving('sending'), closed)).toBe(true)
    expect(leavesUnreached(moving('setup'), { code: 'sync_failed' })).toBe(false)
    expect(leavesUnreached(moving('setup', 1), closed)).toBe(false)
    // Only that machine has its results.
    expect(leavesUnreached(moving('fetching'), closed)).toBe(false)
    expect(leavesUnreached(projectRun({ step: 'sending' }), closed)).toBe(false)
  })

  test.each([
    ['stopped', 'stopped'],
    ['ended', 'ended'],
    ['crashed', 'crashed'],
    ['unstartable', 'crashed'],
  ] as const)('fails when its instance is %s', (state, code) => {
    expect(nextRunMove(projectRun(), seen({ instance: machine(state) }))).toMatchObject({
      do: 'fail',
      problem: { code },
    })
  })

  test.each(['loading', 'exited', 'offline', 'silent', 'waiting', 'other'] as const)(
    'waits while its instance is %s or unknown',
    state => {
      expect(nextRunMove(projectRun(), seen({ instance: machine(state) }))).toEqual({ do: 'wait' })
      expect(nextRunMove(projectRun(), seen({ instance: undefined }))).toEqual({ do: 'wait' })
    },
  )
})
