import { isGoing, type RunAction } from '../../contract/automation/run.ts'
import type { FileTransferView } from '../../contract/files.ts'
import type { InstanceView } from '../../contract/instance.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { canGetIn } from '../../contract/reading.ts'
import type { Connection } from '../../ssh/connection.ts'
import { type Afterwards, endRun, settleRun, startRun } from '../../ssh/runs/runs.ts'
import type { Alert } from '../alerts/alerts.ts'
import { instanceName } from '../alerts/wording.ts'
import type { Automation, AutomationSurroundings, FreshLook } from '../automation/automation.ts'
import { present } from '../present.ts'
import { problemOf } from '../problems.ts'
import { rentalOf } from '../rentals/mark.ts'
import type { Watchdogs } from '../watchdog/watchdogs.ts'
import { beginFetch, endInstance, fetchProblem } from './after.ts'
import { openRunBook, type RunChange, surplus } from './book.ts'
import { followRun, type RunEnd } from './follow.ts'
import { openOutput, type RunOutput } from './output.ts'
import { createRests } from './rests.ts'
import { afterwards, nextStep, type Run } from './run.ts'
import { endedAlert, keptAlert, lostAlert, stuckAlert } from './telling.ts'

/** The runs of one account: started, followed, and what was chosen done at their end. */
export interface Runs extends Required<Pick<Automation, 'looked' | 'resume' | 'flush'>> {
  /** Resolves with its id once it is on disk. */
  start(wish: Wish): Promise<string>
  end(id: string): Promise<void>
  change(id: string, atEnd: RunAction): Promise<void>
  retry(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  output(id: string): Promise<RunOutput>
  /** Before the account leaves Berth. */
  deleteOutputs(): Promise<void>
}

export type Wish = Pick<
  Run,
  | 'instance'
  | 'rental'
  | 'name'
  | 'command'
  | 'fetch'
  | 'into'
  | 'atEnd'
  | 'watchdog'
  | 'stuckAfter'
  | 'stuckEnds'
>

/** Milliseconds until what failed is tried again; the last one stays. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** Milliseconds between two words to the watchdog that Berth is at it. */
const busyEvery = 60_000
/** Runs that are remembered after their end. */
const mostOver = 50
/** Looks without the instance until it counts as gone. */
const looksUntilGone = 2

export async function openRuns(around: AutomationSurroundings, watchdogs: Watchdogs): Promise<Runs> {
  const { account, store, machine, files, activity, teller, access, ending } = around
  const { clock } = machine
  const book = await openRunBook(around)
  const rests = createRests(clock, ending)
  const outputs = new Map<string, Promise<RunOutput>>()
  /** Runs that this process is working on, so that no two loops do. */
  const busy = new Map<string, Promise<void>>()
  const missing = new Map<number, number>()

  const fileOf = (id: string) => `${around.folder}/runs/${id}.jsonl`
  const viewOf = (instance: number | undefined) =>
    instance === undefined ? undefined : store.get().accounts[account]?.instances[instance]
  const nameOf = ({ instance }: Run) => instanceName(viewOf(instance) ?? { id: instance ?? 0 })

  function outputOf(id: string): Promise<RunOutput> {
    const open = outputs.get(id) ?? openOutput(files, fileOf(id))
    outputs.set(id, open)
    return open
  }

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
        if (ending.aborted) return
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
        return (await inside(run, connection => follow(run, connection))) === undefined
      case 'fetching':
        return (await inside(run, (_connection, view) => fetch(run, view))) === undefined
      case 'acting':
        return act(run)
      default:
        return true
    }
  }

  async function begin(run: Run, connection: Connection, view: InstanceView): Promise<'begun'> {
    const atEnd = await withWatchdog(run, view)
    await startRun(connection, clock, run.id, { command: run.command, atEnd })
    await book.update(run.id, { step: 'running', startedAt: around.now() })
    note(run, `Started ${run.name} on ${nameOf(run)}`)
    return 'begun'
  }

  /** Sees to it that there is a watchdog where one is wanted; without one the run begins all the same, and it is said. */
  async function withWatchdog(run: Run, view: InstanceView): Promise<Afterwards | undefined> {
    const wanted = afterwards(run)
    if (!wanted || store.get().accounts[account]?.watchdogs[view.id]) return wanted
    try {
      await watchdogs.put(view.id, { action: 'stop' })
      return wanted
    } catch (error) {
      const { code, message } = problemOf(error)
      if (code.startsWith('ssh_')) throw error
      await book.update(run.id, { watchdog: false })
      note(run, `${run.name} goes on without a watchdog`, message)
      return undefined
    }
  }

  async function follow(run: Run, connection: Connection): Promise<'followed'> {
    const { id } = run
    const output = await outputOf(id)
    const end = await followRun(id, {
      connection,
      clock,
      book,
      output,
      now: around.now,
      goesOn: () => !ending.aborted && book.find(id)?.step === 'running',
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
    const run = await book.update(id, {
      step: nextStep(before),
      endedAt,
      code: end.code,
      stuckSince: undefined,
    })
    if (!run) return
    tell(run, endedAlert(account, run, nameOf(run)))
    if (run.step === 'over') await settle(run)
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
    const after = await book.update(id, {
      fetched: true,
      step: nextStep({ ...run, fetched: true }),
      problem: undefined,
    })
    if (!after) return
    note(after, `Fetched ${run.fetch} of ${run.name}`, `Into ${run.into ?? machine.downloads.own}`)
    if (after.step === 'over') await settle(after)
    work(id)
  }

  /** What was to be fetched could not be: nothing is done to the instance, by the watchdog neither. */
  async function keep(run: Run, problem: Problem): Promise<void> {
    const { code, message, advice } = problem
    const kept = await book.update(run.id, { step: 'kept', problem: present({ code, message, advice }) })
    if (kept) tell(kept, keptAlert(account, kept, nameOf(kept), problem.message))
    await settle(run)
  }

  async function settle(run: Run): Promise<void> {
    if (!run.watchdog) return
    await inside(run, connection => settleRun(connection, clock, run.id, 'over')).catch(() => undefined)
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

  /** Where a run is to begin, or why it never will. */
  function place(run: Run, { records, account: seen }: FreshLook): RunChange | undefined {
    const { rental } = run
    const instance =
      run.instance ?? records.find(({ label, extra_env }) => rentalOf(label, extra_env ?? []) === rental)?.id
    if (instance !== undefined)
      return seen.instances[instance]?.state === 'running' ? { instance, step: 'starting' } : undefined
    const under = rental === undefined ? undefined : seen.rentals[rental]
    return under && under.step !== 'failed' ? undefined : { step: 'failed', problem: rentalFailed }
  }

  function gone(run: Run, at: number): RunChange {
    const { atEnd, watchdog, step } = run
    if (atEnd === 'destroy' && (watchdog || step === 'acting'))
      return { step: 'over', acted: 'destroy', endedAt: at }
    return { step: 'failed', endedAt: run.endedAt ?? at, problem: instanceGone }
  }

  async function dismiss(id: string): Promise<void> {
    const run = book.existing(id)
    outputs.delete(id)
    await book.remove(id)
    await files.delete(fileOf(id)).catch(() => undefined)
    void inside(run, connection => settleRun(connection, clock, id, 'remove')).catch(() => undefined)
  }

  function wakeAll(): void {
    for (const run of book.all()) if (isGoing(run)) work(run.id)
  }

  return {
    async start(wish) {
      const id = `x${machine.random.hex(16)}`
      for (const { id: old } of surplus(book.all(), mostOver)) await dismiss(old)
      await book.add({
        ...wish,
        id,
        step: viewOf(wish.instance)?.state === 'running' ? 'starting' : 'waiting',
        createdAt: around.now(),
        seen: 0,
        dropped: 0,
        lastLine: '',
      })
      work(id)
      return id
    },
    async end(id) {
      const run = book.existing(id)
      if (run.step === 'waiting') await book.update(id, { step: 'over', endedAt: around.now() })
      if (run.step !== 'running' && run.step !== 'starting') return
      const asked = await inside(run, connection => endRun(connection, clock, id))
      if (asked === undefined && !canGetIn(viewOf(run.instance) ?? noWay)) throw new BerthError(notReached)
      rests.wake(id)
    },
    async change(id, atEnd) {
      const { step } = book.existing(id)
      if (step === 'over' || step === 'failed') return
      const run = await book.update(id, { atEnd })
      if (run && atEnd === 'nothing') await settle(run)
      rests.wake(id)
    },
    async retry(id) {
      const run = book.existing(id)
      if (run.step === 'kept') await book.update(id, { step: nextStep(run), problem: undefined })
      work(id)
    },
    async dismiss(id) {
      if (isGoing(book.existing(id))) throw new BerthError(stillGoing)
      await dismiss(id)
    },
    output(id) {
      book.existing(id)
      return outputOf(id)
    },
    async deleteOutputs() {
      await Promise.all(book.all().map(({ id }) => files.delete(fileOf(id)).catch(() => undefined)))
    },
    looked(look) {
      for (const run of book.all()) {
        if (!isGoing(run)) continue
        if (run.step === 'waiting') {
          const change = place(run, look)
          if (change) void book.update(run.id, change).then(() => work(run.id))
          continue
        }
        const { instance = 0 } = run
        const view = look.account.instances[instance]
        const absent = view ? 0 : (missing.get(instance) ?? 0) + 1
        missing.set(instance, absent)
        if (!view && absent >= looksUntilGone)
          void book.update(run.id, gone(run, look.at)).then(() => rests.wake(run.id))
        else if (view?.state === 'stopped' && run.step !== 'acting' && !run.interrupted)
          void book.update(run.id, { interrupted: true })
      }
      wakeAll()
    },
    resume() {
      book.show()
    },
    async flush() {
      await Promise.allSettled(busy.values())
      await book.flush()
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
const rentalFailed = { code: 'rental_failed', message: 'The rental that it waited for came to nothing.' }
const instanceGone = { code: 'no_such_instance', message: 'Its instance is no longer on the account.' }
const noWay = { state: 'other' } as InstanceView
const notReached = {
  code: 'not_running',
  message: 'Its instance is not running, so its command cannot be reached.',
}
const stillGoing = {
  code: 'still_running',
  message: 'It is still going on.',
  advice: 'End it first, or wait for its end.',
}
