import { describe, expect, test } from 'vitest'
import { failed, nextStep, refetching, resumed, retried } from '#core/runs/changes.ts'
import { nextRunMove } from '#core/runs/decide.ts'
import { machineGone, nodeOffline } from '#core/runs/messages.ts'
import type { ProjectRun, Run } from '#core/runs/model.ts'
import { nodeFailed } from '#core/runs/node-decide.ts'
import { nodeFailure } from '#core/runs/nodes.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { machine, projectRun, seen } from './stored-run.ts'

const spec = { run: 'x' }
const broken = { code: 'setup_failed', message: 'It ended.', advice: undefined }

describe('a project’s run that has failed', () => {
  test('stops its instance first, then does nothing more', () => {
    const failing = {
      ...projectRun({ step: 'setup' }),
      ...failed(projectRun({ step: 'setup' }), broken, 100),
    }
    expect(failing).toMatchObject({ step: 'ending', failedAt: 'setup', afterwards: 'stop', problem: broken })
    expect(nextRunMove(failing, seen())).toEqual({ do: 'end' })
    expect(nextRunMove({ ...failing, step: 'failed' }, seen())).toEqual({ do: 'wait' })
    expect(failed(projectRun(), machineGone, 100).step).toBe('failed')
  })

  test('says once how many results a run that begins again doesn’t get, and what sends them', () => {
    const run = projectRun({
      project: { spec: { run: 'x', results: ['out', 'logs'] } },
      downloadResult: { files: 2, beside: [] },
    })
    const advice =
      'Run it again to rent another. 2 downloaded results stay here and aren’t sent: a new run begins without them, unless .berthignore has !out and !logs.'
    const after = failed(run, machineGone, 100)
    expect(after.problem?.advice).toBe(advice)
    expect(failed({ ...run, ...after }, { ...machineGone, advice }, 200).problem?.advice).toBe(advice)
    expect(failed(projectRun(), machineGone, 100).problem?.advice).toBe('Run it again to rent another.')
  })

  test('of several machines, one of which is lost, says the same once its results are here', () => {
    const node = { of: 'x0000000000000001', rank: 0, count: 2 }
    const run = projectRun({ node, project: { spec: { run: 'x', results: 'out' } } })
    const ending = { ...run, ...nodeFailure(run, nodeFailed({ node, problem: nodeOffline }), 100) }
    expect(ending.step).toBe('fetching')
    const fetched = { ...ending, fetched: true, downloadResult: { files: 1, beside: [] } }
    expect(nextStep(fetched, 200).problem?.advice).toBe(
      'Run it again to rent other machines. 1 downloaded result stays here and isn’t sent: a new run begins without it, unless .berthignore has !out.',
    )
  })

  test('keeps its stopped instance for the agreed time, then reminds or destroys as agreed', () => {
    const kept = (project: Partial<ProjectRun['project']>, now: number, state: InstanceState = 'stopped') =>
      nextRunMove(
        projectRun({ step: 'failed', keptUntil: 500, project }),
        seen({ now, instance: machine(state) }),
      )
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

  test('ends where the user destroyed its machine, and moves elsewhere only where someone else did', () => {
    const moving = projectRun({ project: { spec: { run: 'x', outbid: { elsewhere: 2 } } } })
    const gone = seen({ instance: 'gone' })
    expect(nextRunMove(moving, gone)).toEqual({ do: 'move' })
    expect(nextRunMove(moving, { ...gone, isStoppedByUser: true })).toMatchObject({
      do: 'fail',
      problem: { code: 'no_such_instance', message: 'You destroyed its machine.' },
    })
    // It had not begun on that machine, which waited for it.
    expect(nextRunMove({ ...moving, reuses: true }, { ...gone, isStoppedByUser: true })).toEqual({
      do: 'move',
    })
  })

  test('names the limit that stopped its instance, and offers a reset only if it has limits', () => {
    const limited = projectRun({
      project: { limits: [{ when: { kind: 'cost', dollars: 2 }, action: 'stop', asleep: false }] },
    })
    const seenStopped = seen({ instance: machine('stopped'), limit: 'it has cost $2.00' })
    expect(nextRunMove(limited, seenStopped)).toMatchObject({
      problem: {
        message: 'A limit stopped its machine before the run finished: it has cost $2.00.',
        advice: expect.stringContaining('limits reset'),
      },
    })
    expect(nextRunMove(limited, { ...seenStopped, instance: machine('ended') })).toMatchObject({
      problem: { message: expect.stringContaining('A limit stopped its machine') },
    })
    expect(nextRunMove(projectRun(), seen({ instance: machine('stopped') }))).toMatchObject({
      problem: {
        message: 'Its machine was stopped before the run finished.',
        advice: 'Its files are still there. Resume to start it again.',
      },
    })
  })
})

describe('a project’s run that downloads its results before it fails', () => {
  const outcome = { failedAt: 'running', problem: { code: 'command_failed', message: 'It ended.' } } as const
  const fetching = projectRun({ step: 'fetching', outcome, project: { spec: { run: 'x', results: 'out' } } })

  test('fails with the exit code and the results that are only on the machine', () => {
    expect(failed(fetching, outcome.problem, 1000)).toMatchObject({
      failedAt: 'running',
      problem: { code: 'command_failed', message: 'It ended.' },
      keptUntil: 1000 + 86_400,
      afterwards: 'stop',
    })
    expect(failed(fetching, { code: 'results_left', message: 'One is left.' }, 1000)).toMatchObject({
      failedAt: 'running',
      problem: { code: 'command_failed', message: 'It ended. One is left.' },
    })
  })

  test('downloads them again and keeps its reason of failure', () => {
    const after = {
      ...fetching,
      ...failed(fetching, { code: 'results_left', message: 'One is left.' }, 1000),
    }
    const again = { ...after, ...resumed(fetching, machine('stopped')), ...refetching(after, 9) }
    expect(again).toMatchObject({ step: 'fetching', starting: true, outcome, keptUntil: undefined })
    expect(failed(again, outcome.problem, 2000).problem).toEqual(outcome.problem)
  })
})

describe('a failed project’s run that resumes', () => {
  const again = (failedAt: Run['step'], state: InstanceState = 'running') => {
    const failed = projectRun({ step: 'failed', failedAt, setupProgram: 's1', program: 'c1' })
    return { ...failed, ...retried(failed, machine(state), 'fnew') }
  }

  test('resends the folder before a failed command, and repeats only what failed', () => {
    expect(again('setup')).toMatchObject({ step: 'sending', setupProgram: undefined, program: undefined })
    expect(again('running')).toMatchObject({ step: 'sending', setupProgram: 's1', program: undefined })
    expect(again('fetching')).toMatchObject({ step: 'fetching', setupProgram: 's1', program: 'c1' })
  })

  test('searches again only if it found no instance', () => {
    expect(again('waiting').rental).toBe('fnew')
    expect(again('fetching').rental).toBe(projectRun().rental)
  })
})
