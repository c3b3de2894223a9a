import type { LimitAction } from '#contract/automation/limit.ts'
import { isGoing, type RunAction } from '#contract/automation/run.ts'
import { BerthError } from '#contract/problem.ts'
import { canGetIn } from '#contract/reading.ts'
import { endRun, markRun } from '#ssh/runs/runs.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import type { LimitTarget } from '../limits/targets.ts'
import type { Watchdogs } from '../limits/watchdog.ts'
import { rentedWith } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import { alertId } from './alerts.ts'
import { entering } from './decide.ts'
import { createFailing } from './failing.ts'
import type { Run } from './model.ts'
import { insideInstances } from './on-instance/inside.ts'
import { createRunWatchdog } from './on-instance/watchdog.ts'
import { createOnPoll } from './on-poll.ts'
import type { RunOutput } from './output/output.ts'
import { createOutputs } from './output/outputs.ts'
import type { RunParts } from './parts.ts'
import { runAlertsOf } from './run-alerts.ts'
import { isUnsafe, spares } from './spares.ts'
import { openStoredRuns, surplusRuns } from './stored-runs.ts'
import { createRunWork } from './work.ts'

/** The runs of one account: starts them, follows their output, and does what was chosen for their end. */
export interface Runs extends Required<Pick<Automation, 'onPoll' | 'show' | 'flush'>> {
  /** Resolves with its id once it is on disk. Starts nothing if there is a run with that `id` already. */
  start(newRun: NewRun, id?: string): Promise<string>
  find(id: string): Run | undefined
  /**
   * The same for an instance that is yet to be rented: the run is on disk before `rent` is called, and is removed again
   * if `rent` rejects. Resolves with what `rent` does.
   */
  startOn<Got>(newRun: NewRun, rent: () => Promise<Got>): Promise<Got>
  /** Removes the run that waits for a rental which never began. */
  forget(attemptSeries: string): Promise<void>
  end(id: string): Promise<void>
  /** Throws `too_late` while the service is being asked for what was chosen before. */
  change(id: string, afterwards: RunAction): Promise<void>
  /** `into`: the folder of this machine to download to; the usual one if undefined. */
  retry(id: string, into: string | undefined): Promise<void>
  giveUpFetch(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  output(id: string): Promise<RunOutput>
  /** What a limit may do to an instance without losing a folder that is not downloaded yet; undefined for nothing. */
  spares(target: LimitTarget): LimitAction | undefined
  /** Called before an account is removed. */
  deleteOutputs(): Promise<void>
}

export type NewRun = Pick<
  Run,
  | 'instance'
  | 'rental'
  | 'attemptSeries'
  | 'rentedAgain'
  | 'job'
  | 'name'
  | 'command'
  | 'fetch'
  | 'into'
  | 'afterwards'
  | 'watchdog'
  | 'stuckAfter'
  | 'afterwardsIfStuck'
>

/** How many finished runs are kept. */
const mostOver = 50

export async function openRuns(
  context: AccountContext,
  watchdogs: Watchdogs,
  rentals: Pick<Rentals, 'find' | 'ofInstance'>,
): Promise<Runs> {
  const { account, store, machine, files } = context
  const { clock } = machine
  const runs = await openStoredRuns(context)
  const outputs = createOutputs(files, `${context.folder}/runs`, runs)
  const runAlerts = runAlertsOf(context)
  const { note } = runAlerts
  const { inside, viewOf } = insideInstances(context)
  const watchdog = createRunWatchdog(context, { watchdogs, runs, inside, note })
  const { tellIfStale } = watchdog
  const failing = createFailing(context, { runs, runAlerts })
  const parts: RunParts = {
    runs,
    inside,
    watchdog,
    runAlerts,
    failing,
    rentedWith: (instance = 0) => rentedWith(rentals.ofInstance(instance)?.rental, context.record(instance)),
    outputOf: outputs.of,
  }
  const { work, wake, rest, dropFetch, isAsked } = createRunWork(context, parts)
  /** Runs whose instance is being rented right now. */
  const asking = new Set<string>()

  async function dismiss(id: string): Promise<void> {
    const run = runs.get(id)
    await runs.remove(id)
    await outputs.delete(id)
    context.notifications.withdraw(alertId(account, run))
    void inside(run, connection => markRun(connection, clock, id, 'remove')).catch(() => undefined)
  }

  /** Never rejects. */
  async function endUnheard(run: Run): Promise<void> {
    await inside(run, connection => endRun(connection, clock, run.id)).catch(() => undefined)
    await tellIfStale(run.id)
  }

  /** Whether its watchdog still has an outdated order to end the instance, which only the run remembers to correct. */
  function isThreatened({ id, instance = 0 }: Run): boolean {
    const { instances, watchdogs: there } = store.get().accounts[account] ?? {}
    return runs.find(id)?.watchdogStale === true && instances?.[instance] !== undefined && !!there?.[instance]
  }

  async function add(id: string, newRun: NewRun): Promise<void> {
    for (const old of surplusRuns(runs.all(), mostOver)) if (!isThreatened(old)) await dismiss(old.id)
    await runs.add({
      ...newRun,
      id,
      step: viewOf(newRun.instance)?.state === 'running' ? 'starting' : 'waiting',
      createdAt: context.now(),
      seen: 0,
      dropped: 0,
      lastLine: '',
    })
  }

  return {
    find: runs.find,
    async start(newRun, id = `x${context.newId()}`) {
      if (!runs.find(id)) await add(id, newRun)
      work(id)
      return id
    },
    async startOn(newRun, rent) {
      const id = `x${context.newId()}`
      asking.add(id)
      try {
        await add(id, newRun)
        return await rent()
      } catch (error) {
        await runs.remove(id)
        throw error
      } finally {
        asking.delete(id)
      }
    },
    async forget(attemptSeries) {
      const waiting = runs.all().filter(run => run.attemptSeries === attemptSeries && run.step === 'waiting')
      await Promise.all(waiting.map(({ id }) => runs.remove(id)))
    },
    async end(id) {
      const run = runs.get(id)
      if (run.step === 'waiting' || run.step === 'starting') {
        await runs.update(id, { step: 'over', endedAt: context.now() })
        runs.setProblem(id, undefined)
        wake(id)
        // Its command may have been started although the answer was lost.
        if (run.step === 'starting') void endUnheard(run)
        return
      }
      if (run.step !== 'running') return
      await runs.update(id, { endedByUser: true })
      const asked = await inside(run, connection => endRun(connection, clock, id))
      const view = viewOf(run.instance)
      if (asked === undefined && !(view && canGetIn(view))) {
        await runs.update(id, { endedByUser: undefined })
        throw new BerthError(notReached)
      }
      wake(id)
    },
    async change(id, afterwards) {
      const run = runs.get(id)
      if (run.step === 'over' || run.step === 'failed') return
      if (isAsked(id)) throw new BerthError(tooLate(run))
      await runs.update(id, { afterwards })
      wake(id)
      await tellIfStale(id)
    },
    async retry(id, into) {
      const run = runs.get(id)
      if (into !== undefined && isUnsafe(run)) {
        const changed = runs.update(id, { into, as: undefined })
        dropFetch(id)
        await changed
      }
      if (run.step === 'kept' || (run.step === 'failed' && isUnsafe(run)))
        await runs.update(id, entering(run))
      wake(id)
      work(id)
    },
    async giveUpFetch(id) {
      const run = runs.get(id)
      if (run.step !== 'fetching' && run.step !== 'kept') return
      await runs.update(id, { step: 'over', problem: undefined })
      dropFetch(id)
      runs.setProblem(id, undefined)
      note(run, `Gave up fetching ${run.fetch} of ${run.name}`, 'The instance is left as it is.')
      wake(id)
      await tellIfStale(id)
    },
    async dismiss(id) {
      const run = runs.get(id)
      if (isGoing(run)) throw new BerthError(stillGoing)
      await tellIfStale(id)
      if (isThreatened(run)) throw new BerthError(watchdogStale)
      await dismiss(id)
    },
    output(id) {
      runs.get(id)
      return outputs.of(id)
    },
    spares: target => spares(target, runs.all(), viewOf(target.instance), note),
    deleteOutputs: () => outputs.delete(),
    onPoll: createOnPoll(context, parts, { rentals, asking, work, wake, dismiss }),
    show: runs.show,
    async flush() {
      await rest()
      await runs.flush()
    },
  }
}

function tooLate({ afterwards }: Run) {
  return {
    code: 'too_late',
    message: `The service is being asked to ${afterwards} the instance already.`,
    advice: afterwards === 'stop' ? 'Start it again if you want it to run.' : 'That can’t be changed now.',
  }
}
const notReached = {
  code: 'not_running',
  message: 'Its instance is not running, so its command cannot be reached.',
}
const stillGoing = {
  code: 'still_running',
  message: 'It is still going on.',
  advice: 'End it first, or wait for its end.',
}
const watchdogStale = {
  code: 'watchdog_stale',
  message: 'The watchdog on its instance doesn’t know yet that it should leave it running.',
  advice: 'Berth tries again at every poll. Start the instance if it is stopped, or remove its watchdog.',
}
