import type { RentalStop } from '../../contract/automation/guard-kinds.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import type { SyncProgress } from '../../contract/instance/sync.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { isJobGoing, type ProjectPlan } from '../../contract/project/project.ts'
import type { ProjectSpec } from '../../contract/project/spec.ts'
import type { AccountView } from '../../contract/state.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import type { Failovers } from '../renting/attempts/service.ts'
import { createLoops } from '../runs/loops.ts'
import type { Runs } from '../runs/service.ts'
import { openCollection } from '../storage/collection.ts'
import { jobAlertId } from './alerts.ts'
import { checkpointDue, machineGone, nextMove, pauseAfter, type Snapshot } from './decide.ts'
import { createJobEffects } from './effects.ts'
import { Job, specOf } from './model.ts'
import { createMoves, settled } from './moves.ts'
import { planMarket } from './plan-market.ts'
import type { Agreed, Projects } from './projects.ts'
import type { ProjectSecrets } from './secrets.ts'
import { jobView } from './view.ts'

/** What a job is begun with: what the user has agreed to. */
export interface NewJob extends Pick<Agreed, 'text' | 'spec'> {
  project: string
  stops: readonly RentalStop[]
  /** Micro-dollars per hour of the machine that was shown, where one was. */
  price?: number
  secretFiles: readonly string[]
}

/** A plan without what is known of the file itself. */
export type JobPlan = Omit<ProjectPlan, 'content' | 'known'>

/** The jobs of one account: each takes a folder to a machine, runs it there, and brings its results home. */
export interface Jobs extends Required<Pick<Automation, 'onPoll' | 'resume' | 'flush' | 'dueAt'>> {
  /** What would happen, before anything costs. Throws as a scan of the folder and a search of the market do. */
  plan(project: string, spec: ProjectSpec, stops?: readonly RentalStop[]): Promise<JobPlan>
  /** What was agreed to for a job, and what was to stop it. */
  agreed(id: string): Pick<NewJob, 'text' | 'spec' | 'stops'>
  /** Resolves with its id once it is on disk; it goes on by itself. Throws `project_busy`. */
  start(wish: NewJob): Promise<string>
  /** Cancels it without results, and destroys what was rented. */
  cancel(id: string): Promise<void>
  /** Ends its command; results and clean-up follow as after any end. */
  end(id: string): Promise<void>
  /** Goes on from the step that failed. Throws `not_failed`, `project_busy` or `no_such_instance`. */
  retry(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  /** Whether a job goes on there, or failed there and may go on: nothing may destroy the instance. */
  mustKeep(instance: number): boolean
}

/** What jobs go by, besides the account. */
export interface JobParts {
  projects: Projects
  secrets: ProjectSecrets
  failovers: Failovers
  runs: Runs
}

/** Jobs that are remembered after their end. */
const mostOver = 200

export async function openJobs(context: AccountContext, parts: JobParts): Promise<Jobs> {
  const { account, store, activity, notifications, ending, now } = context
  const { failovers, runs } = parts
  const { clock } = context.machine
  const loops = createLoops(clock, ending, goOn)
  const progress = new Map<string, SyncProgress>()
  const passingProblems = new Map<string, Problem>()
  /** How many polls in a row were without an instance. */
  const missing = new Map<number, number>()
  const jobs = await openCollection(context, {
    name: 'jobs',
    schema: Job,
    key: ({ id }) => id,
    missing: { code: 'no_such_job', message: 'That run is no longer on the list.' },
    prune: {
      isOver: ({ step, leaving, withdrawing }) => !isJobGoing({ step }) && !leaving && !withdrawing,
      most: mostOver,
    },
    view: all => ({
      jobs: Object.fromEntries(
        all.map(job => [
          job.id,
          jobView(job, {
            sync: progress.get(job.id),
            problem: passingProblems.get(job.id),
          }),
        ]),
      ),
    }),
  })
  const effects = createJobEffects(context, {
    ...parts,
    intend: jobs.intend,
    update: jobs.update,
    onProgress(id, told) {
      if (told) progress.set(id, told)
      else progress.delete(id)
      jobs.show()
    },
  })

  const moves = createMoves(context, { jobs, effects, failovers, viewOf })

  function viewOf(instance: number | undefined): InstanceView | undefined {
    return instance === undefined ? undefined : store.get().accounts[account]?.instances[instance]
  }

  function snapshotOf(job: Job): Snapshot {
    const { instance, failover, setupRun, commandRun } = job
    const isGone = instance !== undefined && (missing.get(instance) ?? 0) >= pollsUntilGone
    return {
      failover: failovers.find(failover),
      instance: isGone ? 'gone' : viewOf(instance),
      setup: setupRun === undefined ? undefined : runs.find(setupRun),
      command: commandRun === undefined ? undefined : runs.find(commandRun),
      now: now(),
    }
  }

  /** Does all that is left of a job, until that has to wait for a poll or for somebody else. */
  async function goOn(id: string): Promise<void> {
    let fails = 0
    for (;;) {
      const job = jobs.find(id)
      if (ending.aborted || !job) return
      const move = nextMove(job, specOf(job), snapshotOf(job))
      try {
        await moves.cleanUp(job)
        if (move.do === 'wait' && !isJobGoing(job)) return
        if (move.do === 'wait') await loops.until(id, undefined)
        else await moves.perform(job, move)
        fails = 0
        if (passingProblems.delete(id)) jobs.show()
      } catch (error) {
        if (ending.aborted) return
        const problem = problemOf(error)
        const isOnline = store.get().accounts[account]?.connection.status === 'online'
        const pause = pauseAfter(problem, { job, move, fails, isOnline })
        if (pause === undefined) await moves.fail(job, problem)
        else {
          passingProblems.set(id, problem)
          jobs.show()
          await loops.until(id, pause)
        }
        fails += 1
      }
    }
  }

  function refuseIfBusy(project: string, except?: string): void {
    const other = jobs.all().find(job => job.project === project && job.id !== except && isJobGoing(job))
    if (other) throw new BerthError(projectBusy)
  }

  function wakeAll(): void {
    for (const job of jobs.all())
      if (isJobGoing(job) || job.halting || job.leaving || job.withdrawing) loops.work(job.id)
  }

  /** What a job waits for has come: nothing of that needs a poll. */
  const ignore = store.onChange((after, before) => {
    const [now, then] = [after.accounts[account], before.accounts[account]]
    if (now?.runs === then?.runs && now?.failovers === then?.failovers) return
    for (const job of jobs.all())
      if (isJobGoing(job) && awaited(job, now) !== awaited(job, then)) loops.work(job.id)
  })
  ending.addEventListener('abort', ignore, { once: true })

  return {
    async plan(project, spec, stops) {
      const [{ secrets, ...market }, scan] = await Promise.all([
        planMarket(context, failovers, spec, stops),
        context.sync.scan(parts.projects.folder(project).path),
      ])
      return { ...market, spec, scan, missingSecrets: parts.secrets.missing(secrets) }
    },
    agreed(id) {
      const job = jobs.get(id)
      return { text: job.text, spec: specOf(job), stops: job.stops }
    },
    async start({ project, text, spec, stops, price, secretFiles }) {
      refuseIfBusy(project)
      const id = `j${context.newId()}`
      await jobs.add({
        id,
        project,
        folder: parts.projects.folder(project).path,
        name: spec.name ?? parts.projects.name(project),
        text,
        stops: [...stops],
        price,
        secretFiles: [...secretFiles],
        step: 'renting',
        createdAt: now(),
        failover: `f${context.newId()}`,
        spentBefore: 0,
        moved: 0,
      })
      const job = jobs.get(id)
      activity.add({ account, kind: 'user', text: `Asked to run ${job.name}` })
      loops.work(id)
      return id
    },
    async cancel(id) {
      const job = jobs.get(id)
      if (!isJobGoing(job) && job.step !== 'failed') return
      await jobs.intend(id, {
        ...settled(job, now()),
        step: 'cancelled',
        endedAt: now(),
        halting: undefined,
        withdrawing: true,
      })
      notifications.withdraw(jobAlertId(account, job))
      effects.abort(id)
      loops.restart(id)
    },
    async end(id) {
      const { commandRun } = jobs.get(id)
      if (commandRun !== undefined) await runs.end(commandRun)
    },
    async retry(id) {
      const job = jobs.get(id)
      if (job.step !== 'failed') throw new BerthError(notFailed)
      refuseIfBusy(job.project, id)
      const view = viewOf(job.instance)
      // Another machine costs as much again: that is a run of its own, to be agreed to.
      if (job.instance !== undefined && !view) throw new BerthError(machineGone)
      const again = stepAgain(job)
      await jobs.intend(id, {
        step: again,
        failedAt: undefined,
        halting: undefined,
        problem: undefined,
        starting: view && view.state !== 'running' ? true : undefined,
        failover: again === 'renting' ? `f${context.newId()}` : job.failover,
        setupRun: job.failedAt === 'setup' ? undefined : job.setupRun,
        commandRun: again === 'bringing' ? job.commandRun : undefined,
      })
      notifications.withdraw(jobAlertId(account, job))
      loops.restart(id)
    },
    async dismiss(id) {
      const job = jobs.get(id)
      if (isJobGoing(job) || job.leaving || job.withdrawing) throw new BerthError(stillGoing)
      await jobs.remove(id)
      notifications.withdraw(jobAlertId(account, job))
    },
    mustKeep: instance =>
      jobs.all().some(job => job.instance === instance && (isJobGoing(job) || job.step === 'failed')),
    onPoll({ account: { instances }, unconfirmed }) {
      for (const job of jobs.all()) {
        const { instance } = job
        if (instance === undefined) continue
        const view = instances[instance]
        if (view || unconfirmed.has(instance)) missing.delete(instance)
        else missing.set(instance, (missing.get(instance) ?? 0) + 1)
        if (view && (isJobGoing(job) || job.step === 'failed'))
          jobs.putSoon({ ...job, spent: { ...view.spent } })
        if (view?.state === 'running' && job.starting) void jobs.update(job.id, { starting: undefined })
      }
      jobs.show()
      wakeAll()
    },
    resume: jobs.show,
    dueAt(after) {
      const moments = jobs
        .all()
        .flatMap(job => (job.step === 'running' ? (checkpointDue(job, specOf(job)) ?? []) : []))
      return Math.min(...moments.filter(moment => moment > after))
    },
    async flush() {
      await loops.rest()
      await jobs.flush()
    },
  }
}

/** How far that is which a job waits for. */
function awaited({ failover, setupRun = '', commandRun = '' }: Job, view: AccountView | undefined): string {
  return [view?.failovers[failover], view?.runs[setupRun], view?.runs[commandRun]].map(of => of?.step).join()
}

/** What was mended in the folder is sent first. */
function stepAgain({ failedAt = 'renting' }: Job): Job['step'] {
  return failedAt === 'setup' || failedAt === 'running' ? 'sending' : failedAt
}

const projectBusy = {
  code: 'project_busy',
  message: 'This project runs already.',
  advice: 'Wait for its end, or give it up first.',
}
const notFailed = { code: 'not_failed', message: 'It has not failed.' }
const stillGoing = { code: 'still_running', message: 'It still goes on.', advice: 'Cancel it first.' }
