import { isGoing, type RunAction } from '../../contract/automation/run.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import { BerthError } from '../../contract/problem.ts'
import { canGetIn } from '../../contract/reading.ts'
import { endRun, settleRun } from '../../ssh/runs/runs.ts'
import type { Automation, AutomationSurroundings, FreshLook } from '../automation/automation.ts'
import { rentalOf } from '../rentals/mark.ts'
import type { Watchdogs } from '../watchdog/watchdogs.ts'
import { openRunBook, type RunChange, surplus } from './book.ts'
import { openOutput, type RunOutput } from './output.ts'
import { nextStep, type Run, stillUntold } from './run.ts'
import { createRunWork } from './work.ts'

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

/** Runs that are remembered after their end. */
const mostOver = 50
/** Looks without the instance until it counts as gone. */
const looksUntilGone = 2

export async function openRuns(around: AutomationSurroundings, watchdogs: Watchdogs): Promise<Runs> {
  const { machine, files } = around
  const { clock } = machine
  const book = await openRunBook(around)
  const outputs = new Map<string, Promise<RunOutput>>()
  const missing = new Map<number, number>()

  const fileOf = (id: string) => `${around.folder}/runs/${id}.jsonl`
  const { work, inside, settle, viewOf, rest, wake } = createRunWork({ around, watchdogs, book, outputOf })

  function outputOf(id: string): Promise<RunOutput> {
    const open = outputs.get(id) ?? openOutput(files, fileOf(id))
    outputs.set(id, open)
    return open
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

  /** Never rejects. */
  async function endUnheard(run: Run): Promise<void> {
    await inside(run, connection => endRun(connection, clock, run.id)).catch(() => undefined)
    await settle(run.id)
  }

  /** Its watchdog would still end the instance, and nothing but the run remembers to tell it otherwise. */
  function isThreatened({ id, instance = 0 }: Run): boolean {
    const { instances, watchdogs: there } = around.store.get().accounts[around.account] ?? {}
    return book.find(id)?.untold === true && instances?.[instance] !== undefined && !!there?.[instance]
  }

  function wakeAll(): void {
    for (const run of book.all()) if (isGoing(run)) work(run.id)
  }

  return {
    async start(wish) {
      const id = `x${machine.random.hex(16)}`
      for (const old of surplus(book.all(), mostOver)) if (!isThreatened(old)) await dismiss(old.id)
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
      if (run.step === 'waiting' || run.step === 'starting') {
        const begun = run.step === 'starting' ? stillUntold(run) : {}
        await book.update(id, { step: 'over', endedAt: around.now(), ...begun })
        book.setProblem(id, undefined)
        wake(id)
        // It may have begun there without Berth having heard of it.
        if (run.step === 'starting') void endUnheard(run)
        return
      }
      if (run.step !== 'running') return
      const asked = await inside(run, connection => endRun(connection, clock, id))
      if (asked === undefined && !canGetIn(viewOf(run.instance) ?? noWay)) throw new BerthError(notReached)
      wake(id)
    },
    async change(id, atEnd) {
      const { step } = book.existing(id)
      if (step === 'over' || step === 'failed') return
      // Until its end, the watchdog hears of it from the loop that follows it, as soon as it can be told.
      const hasEnded = step === 'fetching' || step === 'acting' || step === 'kept'
      await book.update(id, {
        atEnd,
        ...(hasEnded && atEnd === 'nothing' ? stillUntold(book.existing(id)) : {}),
      })
      await settle(id)
      wake(id)
    },
    async retry(id) {
      const run = book.existing(id)
      if (run.step === 'kept') await book.update(id, { step: nextStep(run), problem: undefined })
      work(id)
    },
    async dismiss(id) {
      const run = book.existing(id)
      if (isGoing(run)) throw new BerthError(stillGoing)
      await settle(id)
      if (isThreatened(run)) throw new BerthError(untold)
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
        if (run.untold) void settle(run.id)
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
          void book.update(run.id, gone(run, look.at)).then(() => wake(run.id))
        else if (view?.state === 'stopped' && run.step !== 'acting' && !run.interrupted)
          void book.update(run.id, { interrupted: true })
      }
      wakeAll()
    },
    resume() {
      book.show()
    },
    async flush() {
      await rest()
      await book.flush()
    },
  }
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
const untold = {
  code: 'watchdog_untold',
  message: 'The watchdog on its instance could not be told yet to leave it as it is.',
  advice: 'Berth tries again at every look. Start the instance if it is stopped, or remove its watchdog.',
}
