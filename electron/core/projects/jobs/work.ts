import { reasonSentence } from '#contract/automation/limit-words.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { isJobGoing } from '#contract/project/project.ts'
import type { AccountView } from '#contract/state.ts'
import type { AccountContext, Automation } from '#core/account-context.ts'
import { problemOf } from '#core/app/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-polls.ts'
import type { StoredLimit, StoredLimits } from '#core/limits/model.ts'
import type { Rentals } from '#core/renting/rentals.ts'
import { createLoops, type Loops } from '#core/runs/loops.ts'
import type { Runs } from '#core/runs/service.ts'
import type { Job } from '../model.ts'
import type { StoredJobs } from '../stored-jobs.ts'
import { failsAfter, type JobSnapshot, jobPauseAfter, nextJobMove } from './decide.ts'
import type { Moves } from './moves.ts'

/** Moves jobs from step to step, in one loop per job. */
export interface JobWork extends Pick<Loops, 'work' | 'restart' | 'rest'>, Pick<Automation, 'onPoll'> {}

/** What it works with, apart from the account. */
interface WorkParts {
  jobs: StoredJobs
  moves: Moves
  attempts: Rentals
  runs: Runs
  limits: Pick<StoredLimits, 'all'>
  viewOf(instance: number | undefined): InstanceView | undefined
}

export function createJobWork(
  context: AccountContext,
  { jobs, moves, attempts, runs, limits, viewOf }: WorkParts,
): JobWork {
  const { account, store, ending, now } = context
  const loops = createLoops(context.machine.clock, ending, goOn)
  const gone = new Set<number>()

  function snapshotOf(job: Job): JobSnapshot {
    const { instance, attemptSeries, setupRun, commandRun } = job
    const isGone = instance !== undefined && gone.has(instance)
    return {
      attemptSeries: attempts.find(attemptSeries),
      instance: isGone ? 'gone' : viewOf(instance),
      setup: setupRun === undefined ? undefined : runs.find(setupRun),
      command: commandRun === undefined ? undefined : runs.find(commandRun),
      limit: instance === undefined ? undefined : limitOf(instance, limits.all()),
      now: now(),
    }
  }

  /** Performs a job's moves until it is over; between them it waits for polls and other changes. */
  async function goOn(id: string): Promise<void> {
    let fails = 0
    let last = { said: '', times: 0 }
    for (;;) {
      // What the user asked for is done once it is on disk: what cannot be written is refused.
      await jobs.flush()
      const job = jobs.find(id)
      if (ending.aborted || !job) return
      const move = nextJobMove(job, snapshotOf(job))
      try {
        await moves.cleanUp(job)
        if (move.do === 'wait' && !isJobGoing(job)) return
        if (move.do === 'wait') await loops.until(id, undefined)
        else await moves.perform(job, move)
        fails = 0
        last = { said: '', times: 0 }
        jobs.noteProblem(id, undefined)
      } catch (error) {
        if (ending.aborted) return
        const problem = problemOf(error)
        const isOnline = store.get().accounts[account]?.connection.status === 'online'
        const said = `${problem.code} ${problem.message}`
        last = { said, times: said === last.said ? last.times + 1 : 1 }
        const pause = jobPauseAfter(problem, {
          job: jobs.find(id) ?? job,
          move,
          fails,
          same: last.times,
          isOnline,
          clock: context.machine.clock.now() / 1000,
        })
        if (pause === undefined) await moves.fail(job, problem)
        else {
          jobs.noteProblem(id, problem)
          await loops.until(id, pause)
        }
        fails = failsAfter(fails, isOnline)
      }
    }
  }

  function isKeptTooLong({ step, keptUntil }: Job): boolean {
    return step === 'failed' && keptUntil !== undefined && now() >= keptUntil
  }

  /** Continues jobs when their attempts or runs change, without waiting for a poll. */
  const ignore = store.onChange((after, before) => {
    const [now, then] = [after.accounts[account], before.accounts[account]]
    if (now?.runs === then?.runs && now?.rentals === then?.rentals) return
    for (const job of jobs.all())
      if (isJobGoing(job) && awaited(job, now) !== awaited(job, then)) loops.work(job.id)
  })
  ending.addEventListener('abort', ignore, { once: true })

  return {
    work: loops.work,
    restart: loops.restart,
    rest: loops.rest,
    onPoll({ account: { instances }, pollsMissing }) {
      for (const job of jobs.all()) {
        const { instance } = job
        if (instance === undefined) continue
        const view = instances[instance]
        if (pollsMissing(instance) >= pollsUntilGone) gone.add(instance)
        else gone.delete(instance)
        if (view && (isJobGoing(job) || job.step === 'failed'))
          jobs.putSoon({ ...job, spent: { ...view.spent } })
        if (view?.state === 'running' && job.starting) void jobs.update(job.id, { starting: undefined })
      }
      jobs.show()
      for (const job of jobs.all())
        if (isJobGoing(job) || job.halting || job.leaving || job.withdrawing || isKeptTooLong(job))
          loops.work(job.id)
    },
  }
}

/** Why a limit has stopped the instance, unless the same was set anew since. */
function limitOf(instance: number, limits: readonly StoredLimit[]): string | undefined {
  const acted = limits.findLast(({ targets, ended }) => ended === 'done' && targets?.includes(instance))
  const anew = limits.some(
    limit => limit.instance === instance && !limit.ended && limit.when.kind === acted?.when.kind,
  )
  return acted && !anew ? reasonSentence(acted.when) : undefined
}

/** The steps of the attempts and runs that a job waits for. */
function awaited(
  { attemptSeries, setupRun = '', commandRun = '' }: Job,
  view: AccountView | undefined,
): string {
  return [view?.rentals[attemptSeries], view?.runs[setupRun], view?.runs[commandRun]]
    .map(of => of?.step)
    .join()
}
