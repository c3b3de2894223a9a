import { isGoing } from '../../contract/automation/run.ts'
import type { FileTransferView } from '../../contract/instance/files.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import type { Problem } from '../../contract/problem.ts'
import { canGetIn } from '../../contract/reading.ts'
import type { Connection } from '../../ssh/connection/connection.ts'
import { endRun, settleRun, startRun } from '../../ssh/runs/runs.ts'
import type { Alert } from '../alerts/alerts.ts'
import { instanceName } from '../alerts/wording.ts'
import type { AutomationSurroundings } from '../automation/automation.ts'
import { present } from '../present.ts'
import { problemOf } from '../problems.ts'
import type { Watchdogs } from '../watchdog/watchdogs.ts'
import { beginFetch, endInstance, fetchProblem } from './after.ts'
import type { RunBook } from './book.ts'
import { followRun, type RunEnd } from './follow.ts'
import type { RunOutput } from './output.ts'
import { createRests } from './rests.ts'
import { nextStep, type Run, stillUntold } from './run.ts'
import { createSettling } from './settling.ts'
import { endedAlert, keptAlert, lostAlert, stuckAlert } from './telling.ts'
import { createRunWatchdog } from './watchdog.ts'

/** Brings runs from their start to their end and beyond: one loop for each. */
export interface RunWork {
  /** Goes on with a run until nothing is left to do, or Berth ends. A second call meanwhile wakes the first. */
  work(id: string): void
  wake(id: string): void
  /** Over its instance's connection; undefined while it cannot be entered. */
  inside<Got>(
    run: Run,
    use: (connection: Connection, view: InstanceView) => Promise<Got>,
  ): Promise<Got | undefined>
  /** Tells the watchdog that nothing is left to do, where that is still to be told. Never rejects. */
  settle(id: string): Promise<void>
  viewOf(instance: number | undefined): InstanceView | undefined
  /** Resolves once no loop goes on. */
  rest(): Promise<void>
}

interface Surroundings {
  around: AutomationSurroundings
  watchdogs: Watchdogs
  book: RunBook
  outputOf(id: string): Promise<RunOutput>
}

/** Milliseconds until what failed is tried again; the last one stays. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** What no later try mends. */
const hopeless = new Set(['no_posix_shell', 'disk_full'])
/** Milliseconds between two words to the watchdog that Berth is at it. */
const busyEvery = 60_000

export function createRunWork({ around, watchdogs, book, outputOf }: Surroundings): RunWork {
  const { account, store, machine, activity, teller, access, ending } = around
  const { clock } = machine
  const rests = createRests(clock, ending)
  /** Runs that this process is working on, so that no two loops do. */
  const busy = new Map<string, Promise<void>>()
  const viewOf = (instance: number | undefined) =>
    instance === undefined ? undefined : store.get().accounts[account]?.instances[instance]
  const nameOf = ({ instance }: Run) => instanceName(viewOf(instance) ?? { id: instance ?? 0 })

  const watchdog = createRunWatchdog({ around, watchdogs, book, note })
  const { settle } = createSettling({ book, clock, inside })

  function tell(run: Run, alert: Alert): void {
    if (store.get().settings.alerts.run) teller.tell(account, [alert])
    else note(run, alert.title, alert.body)
  }

  function note({ instance }: Run, text: string, detail?: string): void {
    activity.add({
      account,
      kind: 'berth',
      text,
      ...(instance === undefined ? {} : { instance }),
      ...(detail ? { detail } : {}),
    })
  }

  /** Over its instance's connection; undefined while it cannot be entered. */
  async function inside<Got>(
    { instance }: Run,
    use: (connection: Connection, view: InstanceView) => Promise<Got>,
  ): Promise<Got | undefined> {
    const view = viewOf(instance)
    if (!view || !canGetIn(view)) return undefined
    const lease = await access.connect({ account, instance: view, client: around.client() })
    try {
      return await use(lease.connection, view)
    } finally {
      lease.release()
    }
  }

  /** Goes on with a run until nothing is left to do, or Berth ends. A second call meanwhile wakes the first. */
  function work(id: string): void {
    if (busy.has(id)) rests.wake(id)
    if (busy.has(id) || ending.aborted) return
    const working = goOn(id).finally(() => busy.delete(id))
    busy.set(id, working)
  }

  async function goOn(id: string): Promise<void> {
    let fails = 0
    for (;;) {
      const run = book.find(id)
      if (ending.aborted || !run || !isGoing(run)) return
      try {
        const waits = await stepOf(run)
        fails = 0
        book.setProblem(id, undefined)
        if (waits) await rests.until(id, undefined)
      } catch (error) {
        // Ended meanwhile: what failed then is of no account.
        const now = book.find(id)
        if (ending.aborted || !now || !isGoing(now)) return
        const { code, message, advice } = problemOf(error)
        if (hopeless.has(code)) {
          await book.update(id, { step: 'failed', problem: present({ code, message, advice }) })
          return
        }
        book.setProblem(id, problemOf(error))
        await rests.until(id, pauses[Math.min(fails, pauses.length - 1)])
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
        return (await inside(run, (_connection, view) => fetch(run, view))) === undefined
      case 'acting':
        return act(run)
      default:
        return true
    }
  }

  async function begin(run: Run, connection: Connection, view: InstanceView): Promise<'begun'> {
    const afterwards = await watchdog.ready(run, view)
    await startRun(connection, clock, run.id, { command: run.command, afterwards })
    // Ended meanwhile: what has just begun ends, too.
    if (book.find(run.id)?.step !== 'starting') {
      await endRun(connection, clock, run.id)
      return 'begun'
    }
    await book.update(run.id, { step: 'running', startedAt: around.now() })
    note(run, `Started ${run.name} on ${nameOf(run)}`)
    return 'begun'
  }

  async function follow(run: Run, connection: Connection, view: InstanceView): Promise<'followed'> {
    const { id, atEnd } = run
    await watchdog.instruct(run, connection, view)
    const output = await outputOf(id)
    const end = await followRun(id, {
      connection,
      clock,
      book,
      output,
      now: around.now,
      goesOn() {
        const now = book.find(id)
        return !ending.aborted && now?.step === 'running' && now.atEnd === atEnd
      },
      rest: milliseconds => rests.until(id, milliseconds),
      stuck: seemsStuck,
    })
    if (end !== undefined) await ended(id, end)
    return 'followed'
  }

  async function seemsStuck(run: Run): Promise<void> {
    tell(run, stuckAlert(account, run, nameOf(run), around.now()))
    const next = nextStep(run)
    if (run.stuckEnds && next !== 'over') await book.update(run.id, { step: next, endedAt: around.now() })
  }

  async function ended(id: string, end: RunEnd): Promise<void> {
    const before = book.existing(id)
    const endedAt = around.now()
    if (end === 'lost' || end === 'none') {
      const run = await book.update(id, { step: 'failed', endedAt, problem: processGone })
      if (run) tell(run, lostAlert(account, run, nameOf(run)))
      return
    }
    const step = nextStep(before)
    const run = await book.update(id, {
      step,
      ...(step === 'over' ? stillUntold(before) : {}),
      endedAt,
      code: end.code,
      stuckSince: undefined,
    })
    if (!run) return
    tell(run, endedAlert(account, run, nameOf(run)))
    await settle(id)
  }

  /** Resolves once the fetching has ended, one way or the other. */
  async function fetch(run: Run, view: InstanceView): Promise<'fetched'> {
    let over: () => void = () => undefined
    const done = new Promise<void>(resolve => {
      over = resolve
    })
    let cancelBusy: () => void = () => undefined
    const sayBusy = () => {
      if (run.watchdog)
        void inside(run, connection => settleRun(connection, clock, run.id, 'busy')).catch(() => undefined)
      cancelBusy = clock.after(busyEvery, sayBusy)
    }
    sayBusy()
    try {
      await beginFetch(around, run, view, transfer => void fetched(run.id, transfer).then(over, over))
      await Promise.race([done, rests.ended])
    } finally {
      cancelBusy()
    }
    return 'fetched'
  }

  async function fetched(id: string, transfer: FileTransferView): Promise<void> {
    const run = book.find(id)
    if (!run || ending.aborted || (run.step !== 'fetching' && run.step !== 'kept')) return
    const problem = fetchProblem(transfer, run)
    if (problem) return keep(run, problem)
    const step = nextStep({ ...run, fetched: true })
    const untold = step === 'over' ? stillUntold(run) : {}
    const after = await book.update(run.id, { fetched: true, step, problem: undefined, ...untold })
    if (!after) return
    note(after, `Fetched ${run.fetch} of ${run.name}`, `Into ${run.into ?? machine.downloads.own}`)
    await settle(run.id)
    work(run.id)
  }

  /** What was to be fetched could not be: nothing is done to the instance, by the watchdog neither. */
  async function keep(run: Run, problem: Problem): Promise<void> {
    const { code, message, advice } = problem
    const shown = present({ code, message, advice })
    const kept = await book.update(run.id, { step: 'kept', problem: shown, ...stillUntold(run) })
    if (kept) tell(kept, keptAlert(account, kept, nameOf(kept), problem.message))
    await settle(run.id)
  }

  async function act(run: Run): Promise<boolean> {
    const { id, instance, atEnd } = run
    if (instance === undefined || atEnd === 'nothing') {
      await book.update(id, { step: 'over' })
      return false
    }
    const other = book.all().find(one => one.id !== id && one.instance === instance && keepsItBusy(one))
    if (other) {
      book.setProblem(id, {
        code: 'other_run',
        message: `${other.name} still goes on there: the instance is ${atEnd === 'stop' ? 'stopped' : 'destroyed'} after that.`,
      })
      await rests.until(id, undefined)
      return false
    }
    const where = nameOf(run)
    await endInstance(around, instance, atEnd)
    await book.update(id, { step: 'over', acted: atEnd })
    note(run, `${atEnd === 'stop' ? 'Stopped' : 'Destroyed'} ${where}, since ${run.name} has ended`)
    return false
  }

  return {
    work,
    wake: rests.wake,
    inside,
    settle,
    viewOf,
    async rest() {
      await Promise.allSettled(busy.values())
    },
  }
}

function keepsItBusy({ step }: Run): boolean {
  return step === 'starting' || step === 'running' || step === 'fetching'
}

const processGone = {
  code: 'process_gone',
  message: 'Its process has gone without an exit code, as when a container is restarted.',
  advice: 'The instance was left as it is. Run it again if it did not finish.',
}
