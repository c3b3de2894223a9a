import { isGoing } from '#contract/automation/run.ts'
import type { AccountContext } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import { createAfterRun } from './afterwards/acting.ts'
import { createFetching, type Fetching } from './afterwards/fetching.ts'
import { createLoops } from './loops.ts'
import type { Run } from './model.ts'
import { createRunning, type Running } from './on-instance/running.ts'
import type { RunParts } from './parts.ts'

/** Moves each run from its start to the actions after its end, in a loop of its own. */
export interface RunWork {
  /**
   * Starts the loop of a run, which lasts until nothing is left to do or Berth ends. An existing loop that waits for a
   * poll continues at once.
   */
  work(id: string): void
  wake(id: string): void
  dropFetch: Fetching['drop']
  /** Whether a request to stop or destroy its instance is under way: then it is too late to choose something else. */
  isAsked(id: string): boolean
  /** Resolves once all loops have ended. */
  rest(): Promise<void>
}

/** Milliseconds from a failure to the next try; the last one repeats. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** Failures in a row, with a connection that works, until the user is told. */
const mostUntold = 3

export function createRunWork(context: AccountContext, parts: RunParts): RunWork {
  const { machine, ending } = context
  const { runs, inside, failing } = parts
  const loops = createLoops(machine.clock, ending, goOn)
  const running = createRunning(context, parts, loops)
  const fetching = createFetching(context, parts, loops)
  const afterRun = createAfterRun(context, parts, loops)

  async function goOn(id: string): Promise<void> {
    let fails = 0
    for (;;) {
      const run = runs.find(id)
      if (ending.aborted || !run || !isGoing(run)) return
      try {
        const goesOn = await stepOf(run)
        fails = 0
        runs.setProblem(id, undefined)
        if (!goesOn) await loops.until(id, undefined)
      } catch (error) {
        // The run ended meanwhile, so the failure does not matter.
        const after = runs.find(id)
        if (ending.aborted || !after || !isGoing(after)) return
        const problem = problemOf(error)
        // It was not started, and a later try would find no more room. A command that runs is never given up.
        if (problem.code === 'disk_full' && after.step === 'starting') {
          await failing.fail(id, problem)
          continue
        }
        const isUnderWay = after.step === 'starting' || after.step === 'running'
        if (isUnderWay && !problem.code.startsWith('ssh_') && fails + 1 === mostUntold)
          failing.hindered(after, problem)
        const pause = pauses[Math.min(fails, pauses.length - 1)] ?? 0
        if (after.step !== 'fetching') runs.setProblem(id, problem)
        const wait =
          after.step === 'fetching' ? await fetching.failed(after, problem, { fails, pause }) : pause
        if (wait === undefined) continue
        await loops.until(id, wait)
        fails += 1
      }
    }
  }

  /** One step of a run; falsy if the next one has to wait for a poll or for the user. */
  async function stepOf(run: Run): Promise<boolean | undefined> {
    const within = (does: Running['begin']) =>
      inside(run, async (connection, view) => {
        await does(run, connection, view)
        return true
      })
    switch (run.step) {
      case 'starting':
        return within(running.begin)
      case 'running':
        return within(running.follow)
      case 'fetching':
        return fetching.fetch(run)
      case 'acting':
        await afterRun.act(run)
        return true
      default:
        return false
    }
  }

  return {
    work: loops.work,
    wake: loops.wake,
    dropFetch: fetching.drop,
    isAsked: afterRun.isAsked,
    rest: loops.rest,
  }
}
