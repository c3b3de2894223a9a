import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '#core/account-context.ts'
import { endAsSeen } from '#core/actions/end-instance.ts'
import { markRun } from '#ssh/runs/runs.ts'
import { commandFailure, keepsItFrom } from '../decide.ts'
import type { Loops } from '../loops.ts'
import type { Run } from '../model.ts'
import type { RunParts } from '../parts.ts'

/** Stops or destroys the instances of runs that have ended. */
export interface AfterRun {
  /** Does what was chosen, as far as possible now. Waits while another run needs the instance. */
  act(run: Run): Promise<void>
  /** Whether the service is being asked to end its instance. */
  isAsked(id: string): boolean
}

export function createAfterRun(
  context: AccountContext,
  { runs, inside, runAlerts }: RunParts,
  loops: Loops,
): AfterRun {
  const asked = new Set<string>()
  return {
    isAsked: id => asked.has(id),
    async act(run) {
      const { id, instance, afterwards } = run
      const problem = run.problem ?? commandFailure(run)
      const ended = problem === undefined ? 'over' : 'failed'
      if (instance === undefined || afterwards === 'nothing') {
        await runs.update(id, { step: ended, problem })
        return
      }
      const isOther = (one: Run) => one.id !== id && one.instance === instance
      const other = runs.all().find(one => isOther(one) && keepsItFrom(one, afterwards))
      if (other) {
        runs.setProblem(id, otherRun(other, afterwards))
        await loops.until(id, undefined)
        return
      }
      const where = runAlerts.nameOf(run)
      // A stop ends the watchdog, too. Mark the run as served, so that the watchdog does not act after the next start.
      if (run.watchdog && afterwards === 'stop')
        await inside(run, connection => markRun(connection, context.machine.clock, id, 'served')).catch(
          () => undefined,
        )
      try {
        const done = await endAsSeen(context, instance, afterwards, () => {
          const now = runs.find(id)
          if (now?.step !== 'acting' || now.afterwards !== afterwards) return false
          asked.add(id)
          return true
        })
        if (!done) return
        await runs.update(id, { step: ended, acted: afterwards, problem })
      } finally {
        asked.delete(id)
      }
      runAlerts.note(
        run,
        `${afterwards === 'stop' ? 'Stopped' : 'Destroyed'} ${where}, since ${run.name} has ${ended === 'over' ? 'ended' : 'failed'}`,
      )
    },
  }
}

function otherRun({ name }: Run, afterwards: 'stop' | 'destroy'): Problem {
  const done = afterwards === 'stop' ? 'stopped' : 'destroyed'
  return {
    code: 'other_run',
    message: `${name} is still running there: the instance is ${done} after that.`,
  }
}
