import type { RentalStop } from '../../contract/automation/guard-kinds.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import type { SyncProgress } from '../../contract/instance/sync.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { limitsOf, mostOf } from '../../contract/project/bounds.ts'
import { isJobGoing, type ProjectPlan } from '../../contract/project/project.ts'
import type { ProjectSpec } from '../../contract/project/spec.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import type { Alert } from '../notifications/alert.ts'
import { spentOn } from '../renting/attempts/model.ts'
import type { Failovers } from '../renting/attempts/service.ts'
import type { Runs } from '../runs/service.ts'
import { createWakeableSleeps } from '../runs/wakeable-sleep.ts'
import { openCollection } from '../storage/collection.ts'
import { doneAlert, failedAlert, jobAlertId } from './alerts.ts'
import { checkpointDue, type Move, nextMove, type Snapshot } from './decide.ts'
import { createJobEffects } from './effects.ts'
import { Job, specOf } from './model.ts'
import { planMarket } from './plan-market.ts'
import type { Agreed, Projects } from './projects.ts'
import type { ProjectSecrets } from './secrets.ts'
import { jobView } from './view.ts'

/** What a job is begun with: what the user has agreed to. */
export interface NewJob extends Pick<Agreed, 'text' | 'spec'> {
  project: string
  stops: readonly RentalStop[]
  secretFiles: readonly string[]
}

/** The jobs of one account: each takes a folder to a machine, runs it there, and brings its results home. */
/** A plan without what is known of the file itself. */
export type JobPlan = Omit<ProjectPlan, 'content' | 'known'>

export interface Jobs extends Required<Pick<Automation, 'onPoll' | 'resume' | 'flush' | 'dueAt'>> {
  /** What would happen, before anything costs. Throws as a scan of the folder and a search of the market do. */
  plan(project: string, spec: ProjectSpec): Promise<JobPlan>
  /** Resolves with its id once it is on disk; it goes on by itself. Throws `project_busy`. */
  start(wish: NewJob): Promise<string>
  /** Brings nothing home; what was rented is destroyed. */
  cancel(id: string): Promise<void>
  /** Ends its command; what follows its end follows. */
  end(id: string): Promise<void>
  /** Goes on from the step that failed. Throws `not_failed` or `project_busy`. */
  retry(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  /** Whether an instance has results that are still to come home: nothing may destroy it. */
  needs(instance: number): boolean
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
/** Milliseconds until what failed is tried again; after the last one it is given up, where the machine is there to try it. */
const pauses = [1000, 2000, 5000, 15_000, 60_000, 60_000, 60_000]
/** What no later try mends. */
const hopeless = new Set([
  'no_such_folder',
  'ignore_file',
  'too_many_files',
  'too_deep',
  'in_the_way',
  'disk_full',
  'disk_full_here',
  'no_tar',
  'no_posix_shell',
  'sync_refused',
  'secret_missing',
])

export async function openJobs(context: AccountContext, parts: JobParts): Promise<Jobs> {
  const { account, store, activity, notifications, ending, now } = context
  const { failovers, runs } = parts
  const { clock } = context.machine
  const sleeps = createWakeableSleeps(clock, ending)
  const progress = new Map<string, SyncProgress>()
  const hindrances = new Map<string, Problem>()
  /** How many polls in a row were without an instance. */
  const missing = new Map<number, number>()
  const busy = new Map<string, Promise<void>>()
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
            gpu: viewOf(job.instance)?.gpu,
            problem: hindrances.get(job.id),
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

  function note({ instance }: Job, text: string, detail?: string): void {
    activity.add({ account, kind: 'berth', text, instance, detail })
  }

  function tell(job: Job, alert: Alert): void {
    if (store.get().settings.alerts.run) notifications.tell(account, [alert])
    else note(job, alert.title, alert.body)
  }

  function work(id: string): void {
    if (busy.has(id)) sleeps.nudge(id)
    if (busy.has(id) || ending.aborted) return
    const working = goOn(id).finally(() => busy.delete(id))
    busy.set(id, working)
  }

  async function goOn(id: string): Promise<void> {
    let fails = 0
    for (;;) {
      const job = jobs.find(id)
      if (ending.aborted || !job) return
      try {
        if (job.leaving) await leave(job, job.leaving)
        if (job.withdrawing) await withdraw(job)
        const move = nextMove(job, specOf(job), snapshotOf(job))
        if (move.do === 'wait' && !isJobGoing(job)) return
        if (move.do === 'wait') await sleeps.until(id, undefined)
        else await perform(job, move)
        fails = 0
        if (hindrances.delete(id)) jobs.show()
      } catch (error) {
        if (ending.aborted) return
        const problem = problemOf(error)
        const pause = pauses[fails]
        if (isJobGoing(job) && (hopeless.has(problem.code) || pause === undefined)) await fail(job, problem)
        else {
          hindrances.set(id, problem)
          jobs.show()
          await sleeps.until(id, pause ?? 60_000)
        }
        fails += 1
      }
    }
  }

  async function perform(job: Job, move: Exclude<Move, { do: 'wait' }>): Promise<void> {
    const { id } = job
    switch (move.do) {
      case 'rent':
        await effects.rent(job)
        return
      case 'start':
        await effects.start(job)
        await jobs.update(id, { starting: undefined })
        return
      case 'send':
        await effects.send(job)
        await reach(job, 'setup')
        return
      case 'run setup':
        return effects.run(job, 'setupRun', specOf(job).setup ?? '')
      case 'run command':
        await effects.run(job, 'commandRun', specOf(job).run)
        await jobs.update(id, { startedAt: job.startedAt ?? now() })
        return
      case 'bring':
        await effects.bring(job)
        await jobs.update(id, { checkpointAt: now() })
        if (move.last) await reach(job, 'ending')
        return
      case 'halt':
        await effects.end(job, 'stop')
        await jobs.update(id, { halting: undefined })
        return
      case 'end':
        await effects.end(job, specOf(job).after ?? 'destroy')
        return done(job)
      case 'move':
        return moveOn(job)
      case 'fail':
        return fail(job, move.problem)
      case 'step':
        if (move.instance !== undefined) await arrive(job, move.instance)
        if (move.code !== undefined) await jobs.update(id, { code: move.code })
        return reach(job, move.step)
    }
  }

  /** What the attempts before it have cost is on the job's account, too. */
  async function arrive(job: Job, instance: number): Promise<void> {
    const tried = failovers.find(job.failover)
    const price = viewOf(instance)?.pricePerHour ?? 0
    const spec = specOf(job)
    await jobs.update(job.id, {
      instance,
      spentBefore: job.spentBefore + (tried ? spentOn(tried) : 0),
      most: mostOf(spec, job.stops, price, limitsOf(spec, price)),
    })
  }

  /** A step that was cancelled meanwhile is not gone back on. */
  async function reach(job: Job, step: Job['step']): Promise<void> {
    await jobs.update(job.id, now => (now.step === job.step ? { ...now, step } : now))
  }

  async function fail(job: Job, { code, message, advice }: Problem): Promise<void> {
    const failed = await jobs.update(job.id, current =>
      current.step === job.step
        ? {
            ...current,
            step: 'failed',
            failedAt: job.step,
            halting: current.instance !== undefined || undefined,
            problem: { code, message, advice },
          }
        : current,
    )
    if (failed?.step === 'failed') tell(failed, failedAlert(account, failed))
  }

  async function done(job: Job): Promise<void> {
    const over = await jobs.update(job.id, current =>
      current.step === 'ending' ? { ...current, ...settled(current), step: 'done', endedAt: now() } : current,
    )
    if (over?.step === 'done') tell(over, doneAlert(account, over, now()))
  }

  /** The machine that it leaves is destroyed: only what was brought home before is left of it. */
  async function moveOn(job: Job): Promise<void> {
    const { instance } = job
    await jobs.intend(job.id, {
      step: 'renting',
      failover: `f${context.newId()}`,
      instance: undefined,
      leaving: [...(job.leaving ?? []), ...(instance === undefined ? [] : [instance])],
      setupRun: undefined,
      commandRun: undefined,
      ...settled(job),
      moved: job.moved + 1,
    })
    note(job, `${job.name} goes on elsewhere`, 'Its machine was outbid, or has gone.')
  }

  async function leave({ id }: Job, leaving: readonly number[]): Promise<void> {
    for (const instance of leaving) await effects.destroy(instance)
    await jobs.update(id, { leaving: undefined })
  }

  /** Whatever was asked for meanwhile: this comes after it, in the one loop of the job. */
  async function withdraw({ id, failover, instance }: Job): Promise<void> {
    const tried = failovers.find(failover)
    if (tried?.step === 'trying') await failovers.cancel(failover)
    const machine = instance ?? (tried?.step === 'ready' ? tried.instance : undefined)
    if (machine !== undefined) await effects.destroy(machine)
    await jobs.update(id, { withdrawing: undefined })
  }

  /** What it has cost is known once its machine costs nothing more. */
  function settled(job: Job): Pick<Job, 'spentBefore' | 'spent'> {
    return { spentBefore: spentIn(job), spent: undefined }
  }

  function spentIn({ spentBefore, spent }: Job): number {
    if (!spent) return spentBefore
    return spentBefore + spent.micros + Math.max(0, Math.floor(((now() - spent.at) * spent.perHour) / 3600))
  }

  function refuseBusy(project: string, but?: string): void {
    const other = jobs.all().find(job => job.project === project && job.id !== but && isJobGoing(job))
    if (other) throw new BerthError(projectBusy)
  }

  function wakeAll(): void {
    for (const job of jobs.all())
      if (isJobGoing(job) || job.halting || job.leaving || job.withdrawing) work(job.id)
  }

  return {
    async plan(project, spec) {
      const [{ secrets, ...market }, scan] = await Promise.all([
        planMarket(context, failovers, spec),
        context.sync.scan(parts.projects.folder(project).path),
      ])
      return { ...market, spec, scan, missingSecrets: parts.secrets.missing(secrets) }
    },
    async start({ project, text, spec, stops, secretFiles }) {
      refuseBusy(project)
      const id = `j${context.newId()}`
      await jobs.add({
        id,
        project,
        folder: parts.projects.folder(project).path,
        name: spec.name ?? parts.projects.name(project),
        text,
        stops: [...stops],
        secretFiles: [...secretFiles],
        step: 'renting',
        createdAt: now(),
        failover: `f${context.newId()}`,
        spentBefore: 0,
        moved: 0,
      })
      const job = jobs.get(id)
      activity.add({ account, kind: 'user', text: `Asked to run ${job.name}` })
      work(id)
      return id
    },
    async cancel(id) {
      const job = jobs.get(id)
      if (!isJobGoing(job) && job.step !== 'failed') return
      await jobs.intend(id, {
        ...settled(job),
        step: 'cancelled',
        endedAt: now(),
        halting: undefined,
        withdrawing: true,
      })
      notifications.withdraw(jobAlertId(account, job))
      effects.abort(id)
      sleeps.wake(id)
      work(id)
    },
    async end(id) {
      const { commandRun } = jobs.get(id)
      if (commandRun !== undefined) await runs.end(commandRun)
    },
    async retry(id) {
      const job = jobs.get(id)
      if (job.step !== 'failed') throw new BerthError(notFailed)
      refuseBusy(job.project, id)
      const view = viewOf(job.instance)
      const again = view ? stepAgain(job) : 'renting'
      await jobs.intend(id, {
        step: again,
        failedAt: undefined,
        halting: undefined,
        problem: undefined,
        starting: view && view.state !== 'running' ? true : undefined,
        ...(again === 'renting' && {
          failover: `f${context.newId()}`,
          instance: undefined,
          ...settled(job),
        }),
        setupRun: again === 'renting' || job.failedAt === 'setup' ? undefined : job.setupRun,
        commandRun: again === 'bringing' ? job.commandRun : undefined,
      })
      notifications.withdraw(jobAlertId(account, job))
      sleeps.wake(id)
      work(id)
    },
    async dismiss(id) {
      const job = jobs.get(id)
      if (isJobGoing(job) || job.leaving || job.withdrawing) throw new BerthError(stillGoing)
      await jobs.remove(id)
      notifications.withdraw(jobAlertId(account, job))
    },
    needs: instance =>
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
      await Promise.allSettled(busy.values())
      await jobs.flush()
    },
  }
}

/** What was mended in the folder is sent first. */
function stepAgain({ failedAt = 'renting' }: Job): Job['step'] {
  return failedAt === 'setup' || failedAt === 'running' ? 'sending' : failedAt
}

const projectBusy = {
  code: 'project_busy',
  message: 'This project runs already.',
  advice: 'Wait for its end, or cancel it first.',
}
const notFailed = { code: 'not_failed', message: 'It has not failed.' }
const stillGoing = { code: 'still_running', message: 'It still goes on.', advice: 'Cancel it first.' }
