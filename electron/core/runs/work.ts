import { isGoing } from '../../contract/automation/run.ts'
import { instanceName } from '../../contract/format/name.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import type { Connection } from '../../ssh/connection/connection.ts'
import { endRun, settleRun, startRun } from '../../ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import type { Watchdogs } from '../guards/watchdog/service.ts'
import type { Alert } from '../notifications/alert.ts'
import { actOn } from './after-run.ts'
import { endedAlert, lostAlert, stuckAlert } from './alerts.ts'
import { nextStep } from './decide.ts'
import { createFetching, type Fetching } from './fetching.ts'
import { followRun, type RunEnd } from './follow.ts'
import { type Inside, insideInstances } from './inside.ts'
import { createLoops } from './loops.ts'
import type { Run } from './model.ts'
import type { RunOutput } from './output/output.ts'
import { createSettling, type Settling } from './settling.ts'
import type { StoredRuns } from './stored-runs.ts'
import { createRunWatchdog } from './watchdog.ts'

/** Brings runs from their start to their end and beyond: one loop for each. */
export interface RunWork {
  /** Goes on with a run until nothing is left to do, or Berth ends. A second call meanwhile wakes it where it waits for a look. */
  work(id: string): void
  wake(id: string): void
  inside: Inside
  /** Tells the watchdog what holds now, where that is still to be told. Never rejects. */
  settle: Settling['settle']
  dropFetch: Fetching['drop']
  /** Whether the service is being asked to stop or destroy its instance: too late to choose something else. */
  isAsked(id: string): boolean
  viewOf(instance: number | undefined): InstanceView | undefined
  /** By an alert, where those of runs are on; else in Activity alone. */
  tell(run: Run, alert: Alert): void
  note(run: Run, text: string, detail?: string): void
  /** Resolves once no loop goes on. */
  rest(): Promise<void>
}

/** What it works on besides the account. */
interface RunParts {
  watchdogs: Watchdogs
  runs: StoredRuns
  outputOf(id: string): Promise<RunOutput>
}

/** Milliseconds until what failed is tried again; the last one stays. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** What no later try mends. */
const hopeless = new Set(['no_posix_shell', 'disk_full'])

export function createRunWork(context: AccountContext, { watchdogs, runs, outputOf }: RunParts): RunWork {
  const { account, store, machine, activity, notifications, ending } = context
  const { clock } = machine
  const loops = createLoops(clock, ending, goOn)
  const { inside, viewOf } = insideInstances(context)
  const nameOf = ({ instance }: Run) => instanceName(viewOf(instance) ?? { id: instance ?? 0 })

  const watchdog = createRunWatchdog(context, { watchdogs, runs, note })
  const settling = createSettling({ runs, clock, inside })
  const { settle } = settling
  const fetching = createFetching(context, { runs, loops, settling, inside, nameOf, tell, note })
  /** Runs for which the service is being asked. */
  const asked = new Set<string>()

  function tell(run: Run, alert: Alert): void {
    if (store.get().settings.alerts.run && run.job === undefined) notifications.tell(account, [alert])
    else note(run, alert.title, alert.body)
  }

  function note({ instance }: Run, text: string, detail?: string): void {
    activity.add({ account, kind: 'berth', text, instance, detail: detail || undefined })
  }

  async function goOn(id: string): Promise<void> {
    let fails = 0
    for (;;) {
      const run = runs.find(id)
      if (ending.aborted || !run || !isGoing(run)) return
      try {
        const waits = await stepOf(run)
        fails = 0
        runs.setProblem(id, undefined)
        if (waits) await loops.until(id, undefined)
      } catch (error) {
        // Ended meanwhile: what failed then is of no account.
        const now = runs.find(id)
        if (ending.aborted || !now || !isGoing(now)) return
        const { code, message, advice } = problemOf(error)
        if (hopeless.has(code)) {
          await runs.update(id, { step: 'failed', problem: { code, message, advice } })
          return
        }
        const pause = pauses[Math.min(fails, pauses.length - 1)] ?? 0
        const problem = problemOf(error)
        if (now.step === 'fetching') fetching.shutOut(id, problem, context.now() + pause / 1000)
        else runs.setProblem(id, problem)
        await loops.until(id, pause)
        fails += 1
      }
    }
  }

  /** One step of it; true where it waits for a look at the account, or for somebody else, to go on. */
  async function stepOf(run: Run): Promise<boolean> {
    switch (run.step) {
      case 'starting':
        return (await inside(run, (connection, view) => begin(run, connection, view))) === undefined
      case 'running':
        return (await inside(run, (connection, view) => follow(run, connection, view))) === undefined
      case 'fetching':
        return fetch(run)
      case 'acting':
        return act(run)
      default:
        return true
    }
  }

  async function begin(run: Run, connection: Connection, view: InstanceView): Promise<'begun'> {
    const order = await watchdog.ready(run, view)
    await startRun(connection, clock, run.id, { command: run.command, order })
    // Ended meanwhile: what has just begun ends, too.
    if (runs.find(run.id)?.step !== 'starting') {
      await endRun(connection, clock, run.id)
      return 'begun'
    }
    await runs.update(run.id, { step: 'running', startedAt: context.now() })
    note(run, `Started ${run.name} on ${nameOf(run)}`)
    return 'begun'
  }

  async function follow(run: Run, connection: Connection, view: InstanceView): Promise<'followed'> {
    const { id } = run
    await watchdog.ready(run, view)
    await settling.tell(run, connection)
    const output = await outputOf(id)
    const end = await followRun(id, {
      connection,
      clock,
      runs,
      output,
      now: context.now,
      goesOn() {
        return !ending.aborted && runs.find(id)?.step === 'running'
      },
      rest: milliseconds => loops.until(id, milliseconds),
      stuck: seemsStuck,
    })
    if (end !== undefined) await ended(id, end)
    return 'followed'
  }

  async function seemsStuck(run: Run): Promise<void> {
    tell(run, stuckAlert(account, run, nameOf(run), context.now()))
    const next = nextStep(run)
    if (run.afterwardsIfStuck && next !== 'over')
      await runs.update(run.id, { step: next, endedAt: context.now() })
  }

  async function ended(id: string, end: RunEnd): Promise<void> {
    const before = runs.get(id)
    const endedAt = context.now()
    if (end === 'lost' || end === 'none') {
      const problem = end === 'lost' ? processGone : recordGone
      const run = await runs.update(id, { step: 'failed', endedAt, problem })
      if (run) tell(run, lostAlert(account, run, nameOf(run)))
      return
    }
    const step = nextStep(before)
    const run = await runs.update(id, {
      step,
      endedAt,
      code: end.code,
      stuckSince: undefined,
    })
    if (!run) return
    tell(run, endedAlert(account, run, nameOf(run)))
    await settle(id)
  }

  async function fetch(run: Run): Promise<boolean> {
    const begun = await inside(run, async (_connection, view) => {
      await fetching.fetch(run, view)
      return true
    })
    if (begun) return false
    const view = viewOf(run.instance)
    if (view)
      fetching.shutOut(run.id, {
        ...notEntered,
        message: `The instance is ${view.state}, so it cannot be entered.`,
      })
    return true
  }

  async function act(run: Run): Promise<boolean> {
    const { id, instance, afterwards } = run
    if (instance === undefined || afterwards === 'nothing') {
      await runs.update(id, { step: 'over' })
      return false
    }
    const other = runs
      .all()
      .find(one => one.id !== id && one.instance === instance && keepsItFrom(one, afterwards))
    if (other) {
      runs.setProblem(id, {
        code: 'other_run',
        message: `${other.name} still goes on there: the instance is ${afterwards === 'stop' ? 'stopped' : 'destroyed'} after that.`,
      })
      await loops.until(id, undefined)
      return false
    }
    const where = nameOf(run)
    // A stop ends the watchdog, too: what it is to do is over by the time that a start brings it back.
    if (run.watchdog && afterwards === 'stop')
      await inside(run, connection => settleRun(connection, clock, id, 'served')).catch(() => undefined)
    try {
      const done = await actOn(context, instance, afterwards, () => {
        const now = runs.find(id)
        if (now?.step !== 'acting' || now.afterwards !== afterwards) return false
        asked.add(id)
        return true
      })
      if (!done) return false
      await runs.update(id, { step: 'over', acted: afterwards })
    } finally {
      asked.delete(id)
    }
    note(run, `${afterwards === 'stop' ? 'Stopped' : 'Destroyed'} ${where}, since ${run.name} has ended`)
    return false
  }

  return {
    work: loops.work,
    wake: loops.wake,
    inside,
    settle,
    dropFetch: fetching.drop,
    isAsked: id => asked.has(id),
    viewOf,
    tell,
    note,
    rest: loops.rest,
  }
}

/** Whether a run keeps its instance from what another is to do: while it goes on, and where its folder is not safe. */
function keepsItFrom({ step }: Run, action: 'stop' | 'destroy'): boolean {
  if (step === 'kept') return action === 'destroy'
  return step === 'starting' || step === 'running' || step === 'fetching'
}

const processGone = {
  code: 'process_gone',
  message: 'Its process has gone without an exit code, as when a container is restarted.',
  advice: 'The instance was left as it is. Run it again if it did not finish.',
}
const recordGone = {
  code: 'record_gone',
  message: 'Nothing of it is left on the instance, as when that was reset or its container made anew.',
  advice: 'The output up to then is here. Run it again if it did not finish.',
}
const notEntered = { code: 'not_running', advice: 'Fetching goes on by itself once it runs.' }
