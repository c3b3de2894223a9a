import { expect, test } from 'vitest'
import type { AccountContext } from '#core/account-context.ts'
import type { RunMove } from '#core/runs/decide.ts'
import { type FactSources, RunFacts } from '#core/runs/facts.ts'
import type { Run } from '#core/runs/model.ts'
import { RunScheduler, type SchedulerParts } from '#core/runs/scheduler.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { deferred } from '#platform/tasks.ts'
import { account, accountContext, freshAnswer } from '#test/berth/account-context.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { instanceView } from '../../views.ts'
import { storedLimit } from '../limits/stored-limit.ts'
import { projectRun } from './stored-run.ts'

test('a cancelled run ends once that is on disk, and continues if it can’t be written', async () => {
  const files = new MemoryFiles()
  const context = accountContext({ files })
  const runs = await openStoredRuns(context, () => undefined)
  const { id, ...run } = projectRun()
  await runs.add({ id, ...run })
  const cleaned: Run[] = []
  const looked = deferred<void>()
  const steps = {
    async cleanUp(run: Run) {
      cleaned.push(run)
      looked.resolve()
    },
    perform: async () => true,
  } as unknown as SchedulerParts['steps']
  const work = workOf(context, { runs, steps })

  const disk = deferred<void>()
  files.held = disk.promise
  files.refusing = 'ENOSPC'
  const cancelling = runs.intend(id, { step: 'cancelled', withdrawing: true })
  work.onPoll(freshAnswer(context, {}))
  await new Promise(setImmediate)
  expect(cleaned).toEqual([])
  disk.resolve()
  await expect(cancelling).rejects.toThrow('ENOSPC')
  await looked.promise
  expect(cleaned.map(({ step, withdrawing }) => [step, withdrawing])).toEqual([['running', undefined]])
})

test.each([
  {
    lastAction: 1000,
    cause: 'A limit stopped its machine before the run finished: its GPU load was below 5% for 10 min.',
  },
  { lastAction: 900, cause: 'Its machine was stopped before the run finished.' },
])(
  'a run that its watchdog stopped names the limit, not that of an earlier stop: $lastAction',
  async given => {
    const context = accountContext({ now: () => 1010 })
    const machine = instanceView({
      id: 7,
      state: 'stopped',
      history: [
        { at: 950, state: 'running', actualStatus: 'running' },
        { at: 1000, state: 'stopped', actualStatus: 'exited' },
      ],
    })
    context.store.change(draft => {
      const target = draft.accounts[account]
      const did = { at: given.lastAction, action: 'stop' as const, why: 'idle' as const }
      const watchdog = {
        instance: 7,
        request: { action: 'stop' as const },
        step: 'watching' as const,
        foreign: false,
      }
      if (target) target.watchdogs = { 7: { ...watchdog, lastAction: did } }
    })
    const runs = await openStoredRuns(context, () => undefined)
    await runs.add(projectRun({ step: 'running', instance: 7, createdAt: 800 }))
    const moved = deferred<RunMove>()
    const steps = {
      cleanUp: async () => undefined,
      perform: async (_run: Run, move: RunMove) => {
        moved.resolve(move)
        return true
      },
    } as unknown as SchedulerParts['steps']
    const idle = storedLimit({ instance: 7, asleep: true, when: { kind: 'idle', below: 5, seconds: 600 } })
    const work = workOf(context, {
      runs,
      steps,
      limits: { all: () => [idle] },
      machines: { viewOf: () => machine },
    })
    work.onPoll(freshAnswer(context, { 7: machine }))
    expect(await moved.promise).toMatchObject({ do: 'fail', problem: { message: given.cause } })
  },
)

test.each([true, false])(
  'files are destroyed for their cost only if so much left the account: %j',
  async isPaid => {
    const context = accountContext({ now: () => 1010 })
    const spent = { micros: 9_000_000, at: 1000, perHour: 0 }
    const machine = instanceView({ id: 7, state: 'stopped', spent })
    const runs = await openStoredRuns(context, () => undefined)
    const most = 2_000_000
    const failed = projectRun({ step: 'failed', instance: 7, createdAt: 800, most, costThen: most, spent })
    await runs.add({ ...failed, project: { ...failed.project, keptCost: 250_000 } } as Run)
    const done: string[] = []
    const asked: number[][] = []
    const work = workOf(context, {
      runs,
      steps: {
        cleanUp: async () => undefined,
        perform: async (_: Run, { do: move }: RunMove) => done.push(move),
      },
      machines: { viewOf: () => machine },
      departures: {
        costOf: () => ({}),
        keepOnlyFor: (needing: ReadonlySet<string>) => done.push(`needs ${needing.size}`),
      },
      folders: { dropLost: () => done.push('drops lost') },
      mayHaveCost(...args: number[]) {
        asked.push(args)
        return isPaid
      },
    } as unknown as Parameters<typeof workOf>[1])
    work.onPoll(freshAnswer(context, { 7: machine }))
    await flushPromises()
    expect(asked[0]).toEqual([2_250_000, 800])
    expect(done).toEqual(isPaid ? expect.arrayContaining(['needs 0', 'expire']) : ['drops lost', 'needs 1'])
  },
)

type Parts = SchedulerParts & FactSources

function workOf(
  context: AccountContext,
  given: Pick<Parts, 'runs' | 'steps'> & Partial<Parts>,
): RunScheduler {
  const nothing = { find: () => undefined, all: () => [] } as never
  const parts = {
    machines: { viewOf: () => undefined },
    rentals: nothing,
    limits: nothing,
    sweeps: { isSpent: () => false },
    mayHaveCost: () => true,
    nodes: { of: () => [], isCutOff: async () => false },
    departures: { costOf: () => ({}), keepOnlyFor: () => undefined },
    folders: { dropLost: () => undefined },
    ...given,
  }
  return new RunScheduler(context, { facts: new RunFacts(context, parts), ...parts })
}
