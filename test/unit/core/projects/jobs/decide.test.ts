import { describe, expect, test } from 'vitest'
import type { InstanceState, InstanceView } from '#contract/instance/instance.ts'
import { againFromFailure, failed, fetchingAgain } from '#core/projects/jobs/changes.ts'
import { failsAfter, type JobSnapshot, jobPauseAfter, nextJobMove } from '#core/projects/jobs/decide.ts'
import type { Job } from '#core/projects/model.ts'

const job = (fields: Partial<Job> = {}): Job => ({
  id: 'j0000000000000001',
  project: 'p0000000000000001',
  folder: '/home/me/digits',
  name: 'digits',
  text: 'run: x',
  spec: { run: 'x' },
  stops: [],
  secretFiles: [],
  step: 'running',
  createdAt: 0,
  startedAt: 100,
  attemptSeries: 'f0000000000000001',
  instance: 7,
  spentBefore: 0,
  moved: 0,
  ...fields,
})
const machine = (state: InstanceState) => ({ id: 7, state }) as InstanceView
const seen = (fields: Partial<JobSnapshot> = {}): JobSnapshot => ({
  attemptSeries: undefined,
  instance: machine('running'),
  setup: undefined,
  command: { step: 'running' },
  limit: undefined,
  now: 200,
  ...fields,
})
const spec = { run: 'x' }

describe('a job that runs', () => {
  test('waits for its command, then downloads the results whatever the exit code', () => {
    expect(nextJobMove(job(), seen())).toEqual({ do: 'wait' })
    const ended = (code: number) =>
      seen({ command: { step: 'over', code, lastLine: 'bash: mytrain: command not found' } })
    expect(nextJobMove(job(), ended(0))).toEqual({ do: 'step', step: 'bringing', code: 0 })
    expect(nextJobMove(job(), ended(127))).toEqual({
      do: 'step',
      step: 'bringing',
      code: 127,
      outcome: {
        failedAt: 'running',
        problem: {
          code: 'command_failed',
          message: 'The command ended with exit code 127: mytrain is missing there.',
          advice: expect.any(String),
        },
      },
    })
    // The signal gives the command another exit code.
    const byUser = nextJobMove(job({ endedByUser: true }), ended(143))
    expect(byUser).toEqual({ do: 'step', step: 'bringing', code: 143 })
  })

  test('downloads a checkpoint once it is due', () => {
    const often = { ...spec, checkpoint: 60 }
    expect(nextJobMove(job({ spec: often }), seen({ now: 159 }))).toEqual({ do: 'wait' })
    expect(nextJobMove(job({ spec: often }), seen({ now: 160 }))).toEqual({ do: 'bring', last: false })
    expect(nextJobMove(job({ spec: often, checkpointAt: 160 }), seen({ now: 200 }))).toEqual({ do: 'wait' })
  })

  test('moves when its instance is lost, at most as often as its spec allows', () => {
    const twice = { ...spec, outbid: { elsewhere: 2 } }
    const outbid = seen({ instance: machine('outbid') })
    expect(nextJobMove(job(), outbid)).toMatchObject({ do: 'fail', problem: { code: 'outbid' } })
    expect(nextJobMove(job({ spec: twice, moved: 1 }), outbid)).toEqual({ do: 'move' })
    expect(nextJobMove(job({ spec: twice, moved: 2 }), outbid)).toMatchObject({ do: 'fail' })
    expect(nextJobMove(job({ spec: twice }), seen({ instance: 'gone' }))).toEqual({ do: 'move' })
  })

  test.each([
    ['stopped', 'stopped'],
    ['ended', 'ended'],
    ['crashed', 'crashed'],
    ['unstartable', 'crashed'],
  ] as const)('fails when its instance is %s', (state, code) => {
    expect(nextJobMove(job(), seen({ instance: machine(state) }))).toMatchObject({
      do: 'fail',
      problem: { code },
    })
  })

  test.each(['loading', 'exited', 'offline', 'silent', 'waiting', 'other'] as const)(
    'waits while its instance is %s or unknown',
    state => {
      expect(nextJobMove(job(), seen({ instance: machine(state) }))).toEqual({ do: 'wait' })
      expect(nextJobMove(job(), seen({ instance: undefined }))).toEqual({ do: 'wait' })
    },
  )
})

describe('a job that has failed', () => {
  test('stops its instance, then does nothing more by itself', () => {
    const failed = job({ step: 'failed', failedAt: 'setup', halting: true })
    expect(nextJobMove(failed, seen())).toEqual({ do: 'halt' })
    expect(nextJobMove({ ...failed, halting: undefined }, seen())).toEqual({ do: 'wait' })
  })

  test('keeps its stopped instance for the agreed time, then reminds or destroys as agreed', () => {
    const kept = (fields: Partial<Job>, now: number, state: InstanceState = 'stopped') =>
      nextJobMove(job({ step: 'failed', keptUntil: 500, ...fields }), seen({ now, instance: machine(state) }))
    const destroys = { keeping: { seconds: 100, destroys: true } }
    expect(kept(destroys, 499)).toEqual({ do: 'wait' })
    expect(kept({}, 500)).toEqual({ do: 'expire', destroys: false })
    expect(kept(destroys, 500)).toEqual({ do: 'expire', destroys: true })
    expect(kept({ spec: { ...spec, failed: { afterwards: 'destroy' } } }, 500)).toMatchObject({
      destroys: true,
    })
    // One that runs is in use.
    expect(kept(destroys, 500, 'running')).toEqual({ do: 'expire', destroys: false })
  })

  test('says which limit stopped its instance, and promises limits anew only where it has any', () => {
    const limited = job({ stops: [{ when: { kind: 'cost', dollars: 2 }, action: 'stop', asleep: false }] })
    const seenStopped = seen({ instance: machine('stopped'), limit: 'It has cost $2.00.' })
    expect(nextJobMove(limited, seenStopped)).toMatchObject({
      problem: {
        message: 'Its machine was stopped before it was done. It has cost $2.00.',
        advice: expect.stringContaining('limits anew'),
      },
    })
    expect(nextJobMove(job({ stops: [] }), seen({ instance: machine('stopped') }))).toMatchObject({
      problem: {
        message: 'Its machine was stopped before it was done.',
        advice: 'Its files are still there. Go on from here to start it again.',
      },
    })
  })

  test('starts its stopped instance on a retry', () => {
    const again = job({ step: 'sending', starting: true })
    expect(nextJobMove(again, seen({ instance: machine('stopped') }))).toEqual({ do: 'start' })
    expect(nextJobMove(again, seen({ instance: machine('loading') }))).toEqual({ do: 'wait' })
    expect(nextJobMove(again, seen())).toEqual({ do: 'send' })
  })
})

describe('a job that rents', () => {
  const renting = job({ step: 'renting', instance: undefined })
  test('rents once, waits, and goes on when an instance is ready', () => {
    expect(nextJobMove(renting, seen())).toEqual({ do: 'rent' })
    const trying = { step: 'trying', instance: undefined, problem: undefined } as const
    expect(nextJobMove(renting, seen({ attemptSeries: trying }))).toEqual({ do: 'wait' })
    const ready = { ...trying, step: 'ready', instance: 7 } as const
    expect(nextJobMove(renting, seen({ attemptSeries: ready }))).toEqual({
      do: 'step',
      step: 'sending',
      instance: 7,
    })
  })

  test('fails with the reason when nothing was rented', () => {
    const problem = { code: 'no_offers', message: 'None.' }
    const failed = { step: 'failed', instance: undefined, problem } as const
    expect(nextJobMove(renting, seen({ attemptSeries: failed }))).toEqual({ do: 'fail', problem })
  })
})

describe('a job whose move has failed', () => {
  const sending = {
    job: { step: 'sending' },
    move: { do: 'send' },
    isOnline: true,
    same: 1,
    clock: 200,
  } as const

  test('retries after growing pauses, and fails after the last try', () => {
    const pauses = Array.from({ length: 8 }, (_, fails) =>
      jobPauseAfter({ code: 'sync_failed' }, { ...sending, fails }),
    )
    expect(pauses).toEqual([1000, 2000, 5000, 15_000, 60_000, 60_000, 60_000, undefined])
  })

  test('fails once the machine itself gives the same answer three times', () => {
    const pause = (code: string, same: number) => jobPauseAfter({ code }, { ...sending, fails: 2, same })
    expect([pause('not_prepared', 2), pause('not_prepared', 3)]).toEqual([5000, undefined])
    expect(pause('ssh_closed', 3)).toBe(5000)
    expect(pause('shell_replaced', 2)).toBeGreaterThan(0)
    expect(pause('shell_replaced', 3)).toBeUndefined()
  })

  test('waits ten minutes for results that change, and keeps its machine then', () => {
    const pause = (clock: number) =>
      jobPauseAfter(
        { code: 'results_changing' },
        { ...sending, job: { step: 'bringing', changingSince: 1000 }, fails: 50, clock },
      )
    expect([pause(1000), pause(1599), pause(1600)]).toEqual([15_000, 15_000, undefined])
  })

  test('gives a machine that cannot be reached half an hour', () => {
    let waited = 0
    for (let fails = 0; ; fails++) {
      const pause = jobPauseAfter({ code: 'ssh_unreachable' }, { ...sending, fails })
      if (pause === undefined) break
      waited += pause
    }
    expect(Math.round(waited / 60_000)).toBe(30)
  })

  test('fails at once when no retry can help', () => {
    expect(jobPauseAfter({ code: 'disk_full' }, { ...sending, fails: 0 })).toBeUndefined()
  })

  test('keeps retrying while there is no network', () => {
    let fails = 0
    for (let tries = 0; tries < 500; tries++) {
      expect(jobPauseAfter({ code: 'ssh_closed' }, { ...sending, fails, isOnline: false })).toBeDefined()
      fails = failsAfter(fails, false)
    }
    // Once it is back, some further tries are left.
    for (const code of ['ssh_closed', 'offline'])
      expect(jobPauseAfter({ code }, { ...sending, fails: failsAfter(fails, true) })).toBe(60_000)
  })

  test('keeps running when only a checkpoint failed', () => {
    const checkpoint = {
      job: { step: 'running' },
      move: { do: 'bring', last: false },
      isOnline: true,
      same: 1,
      clock: 200,
    } as const
    expect(jobPauseAfter({ code: 'disk_full_here' }, { ...checkpoint, fails: 9 })).toBe(60_000)
    const last = { ...checkpoint, move: { do: 'bring', last: true } } as const
    expect(jobPauseAfter({ code: 'disk_full_here' }, { ...last, fails: 0 })).toBeUndefined()
  })

  test('retries the stop of its instance without limit', () => {
    const halting = {
      job: { step: 'failed' },
      move: { do: 'halt' },
      isOnline: true,
      same: 500,
      clock: 200,
    } as const
    expect(jobPauseAfter({ code: 'unreachable' }, { ...halting, fails: 500 })).toBe(60_000)
  })
})

describe('a job that downloads its results before it fails', () => {
  const outcome = { failedAt: 'running', problem: { code: 'command_failed', message: 'It ended.' } } as const
  const bringing = job({ step: 'bringing', outcome })

  test('fails with what its command did, and with what is only on the machine', () => {
    expect(failed(bringing, outcome.problem, 1000)).toMatchObject({
      failedAt: 'running',
      problem: { code: 'command_failed', message: 'It ended.' },
      keptUntil: 1000 + 86_400,
      halting: true,
    })
    expect(failed(bringing, { code: 'results_left', message: 'One is left.' }, 1000)).toMatchObject({
      failedAt: 'running',
      problem: { code: 'command_failed', message: 'It ended. One is left.' },
    })
  })

  test('downloads them again without a change of how it failed', () => {
    const after = {
      ...bringing,
      ...failed(bringing, { code: 'results_left', message: 'One is left.' }, 1000),
    }
    const again = { ...after, ...fetchingAgain(after, machine('stopped')) }
    expect(again).toMatchObject({ step: 'bringing', starting: true, outcome, keptUntil: undefined })
    expect(failed(again, outcome.problem, 2000).problem).toEqual(outcome.problem)
  })
})

describe('a job that failed and goes on', () => {
  const again = (failedAt: Job['step'], state: InstanceState = 'running') =>
    againFromFailure(
      job({ step: 'failed', failedAt, halting: true, setupRun: 's1', commandRun: 'c1' }),
      machine(state),
      'fnew',
    )

  test('resends the folder before a failed command, and repeats only what failed', () => {
    expect(again('setup')).toMatchObject({ step: 'sending', setupRun: undefined, commandRun: undefined })
    expect(again('running')).toMatchObject({ step: 'sending', setupRun: 's1', commandRun: undefined })
    expect(again('bringing')).toMatchObject({ step: 'bringing', setupRun: 's1', commandRun: 'c1' })
  })

  test('searches again only if it found no instance, and starts a stopped one', () => {
    expect(again('renting').attemptSeries).toBe('fnew')
    expect(again('bringing').attemptSeries).toBe(job().attemptSeries)
    expect(again('bringing', 'stopped')).toMatchObject({ starting: true, halting: undefined })
    expect(again('bringing').starting).toBeUndefined()
  })
})
