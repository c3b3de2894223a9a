import type { InstanceView } from '#contract/instance/instance.ts'
import type { AccountContext } from '#core/account-context.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { endRun, startRun } from '#ssh/runs/runs.ts'
import { endedAlert, stuckAlert } from '../alerts.ts'
import { afterCommand, nextRunStep } from '../decide.ts'
import type { Loops } from '../loops.ts'
import type { Run } from '../model.ts'
import type { RunParts } from '../parts.ts'
import { followRun, type RunEnd } from './follow.ts'

/** Starts runs on their instances, and follows them until they end. */
export interface Running {
  begin(run: Run, connection: Connection, view: InstanceView): Promise<void>
  /** Resolves once it has ended, or should no longer be followed. */
  follow(run: Run, connection: Connection, view: InstanceView): Promise<void>
}

export function createRunning(
  { account, machine: { clock }, ending, now }: AccountContext,
  { runs, watchdog, runAlerts, failing, rentedWith, outputOf }: RunParts,
  loops: Loops,
): Running {
  const { tell, note, nameOf } = runAlerts

  async function seemsStuck(run: Run): Promise<void> {
    tell(run, stuckAlert(account, run, nameOf(run), now()))
    const step = nextRunStep(run)
    if (run.afterwardsIfStuck && step !== 'over') await runs.update(run.id, { step, endedAt: now() })
  }

  async function ended(id: string, end: RunEnd): Promise<void> {
    if (end === 'lost' || end === 'none') {
      await failing.fail(id, end === 'lost' ? processGone : recordGone)
      await watchdog.tellIfStale(id)
      return
    }
    const before = runs.get(id)
    const change = afterCommand(before, end.code)
    const run = await runs.update(id, { ...change, endedAt: now(), stuckSince: undefined })
    if (!run) return
    tell(
      run,
      endedAlert(account, run, { where: nameOf(run), isSpared: before.afterwards !== run.afterwards }),
    )
    await watchdog.tellIfStale(id)
  }

  return {
    async begin(run, connection, view) {
      const { id, command, name } = run
      const order = await watchdog.ready(run, view)
      await startRun(connection, clock, id, { command, order, environment: rentedWith(run.instance) })
      // The run was ended meanwhile, so its command is ended, too.
      if (runs.find(id)?.step !== 'starting') return endRun(connection, clock, id)
      await runs.update(id, { step: 'running', startedAt: now() })
      note(run, `Started ${name} on ${nameOf(run)}`)
    },
    async follow(run, connection, view) {
      const { id } = run
      await watchdog.ready(run, view)
      await watchdog.tell(run, connection)
      const output = await outputOf(id)
      const end = await followRun(id, {
        connection,
        clock,
        runs,
        output,
        now,
        goesOn: () => !ending.aborted && runs.find(id)?.step === 'running',
        rest: milliseconds => loops.until(id, milliseconds),
        stuck: seemsStuck,
      })
      if (end !== undefined) await ended(id, end)
    },
  }
}

const processGone = {
  code: 'process_gone',
  message: 'Its process has gone without an exit code, as when a container is restarted.',
  advice: 'Run it again if it did not finish.',
}
const recordGone = {
  code: 'record_gone',
  message: 'Nothing of it is left on the instance, as when that was reset or its container made anew.',
  advice: 'The output up to then is here. Run it again if it did not finish.',
}
