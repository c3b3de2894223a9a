import type { Limit } from '#contract/automation/limit.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { boundOf, keepingOf } from '#contract/project/bounds.ts'
import { isJobGoing, type ProjectPlan } from '#contract/project/project.ts'
import type { Keeping, ProjectSpec } from '#contract/project/spec.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import { limitOfRental } from '../limits/changes.ts'
import type { StoredLimits } from '../limits/model.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { Runs } from '../runs/service.ts'
import { jobAlertId } from './alerts.ts'
import { againFromFailure, ended, fetchingAgain } from './jobs/changes.ts'
import { checkpointDue, machineGone } from './jobs/decide.ts'
import { createJobEffects } from './jobs/effects.ts'
import { createMoves } from './jobs/moves.ts'
import { createJobWork } from './jobs/work.ts'
import type { Job } from './model.ts'
import { type Chosen, planMarket } from './plan-market.ts'
import type { Agreed, Projects } from './projects.ts'
import type { ProjectSecrets } from './secrets.ts'
import { openStoredJobs } from './stored-jobs.ts'
import { jobCostBy } from './view.ts'

/** What the user agreed to for a job. */
export interface NewJob extends Pick<Agreed, 'text' | 'spec'> {
  project: string
  /** The offer to try first; the best one if absent. */
  offer?: number
  stops: readonly Limit[]
  /** How long its machine is kept if it fails; by the file if absent. */
  keeping?: Keeping
  /** Micro-dollars per hour of the machine that was shown, if any. */
  price?: number
  secretFiles: readonly string[]
}

/** A plan without the facts about the file itself. */
export type JobPlan = Omit<ProjectPlan, 'content' | 'known'>

/** The jobs of one account: each sends a folder to a machine, runs it there and downloads its results. */
export interface Jobs extends Required<Pick<Automation, 'onPoll' | 'show' | 'flush' | 'dueAt'>> {
  /** What would happen, before anything costs money. Throws as a scan of the folder and a search of the market do. */
  plan(project: string, spec: ProjectSpec, chosen?: Chosen): Promise<JobPlan>
  /** The file and stop conditions that the user agreed to for a job. */
  agreed(id: string): Pick<NewJob, 'text' | 'spec' | 'stops'>
  /** Resolves with its id once it is on disk; the job then continues by itself. Throws `project_busy`. */
  start(job: NewJob): Promise<string>
  /** Cancels a job without its results, and destroys its machine. */
  cancel(id: string): Promise<void>
  /** Ends a job's command; results and clean-up follow as usual. */
  end(id: string): Promise<void>
  /** Downloads the results of a failed job again. Throws `not_failed`, `project_busy` or `no_such_instance`. */
  fetch(id: string): Promise<void>
  /** Continues from the step that failed. Throws `not_failed`, `project_busy` or `no_such_instance`. */
  retry(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  /** Whether an instance must not be destroyed because of a running or failed job. */
  mustKeep(instance: number): boolean
}

/** What jobs work with, apart from the account. */
export interface JobParts {
  projects: Projects
  secrets: ProjectSecrets
  attempts: Rentals
  runs: Runs
  limits: StoredLimits
}

export async function openJobs(context: AccountContext, parts: JobParts): Promise<Jobs> {
  const { account, store, activity, notifications, now } = context
  const { attempts, runs, limits } = parts
  const jobs = await openStoredJobs(context)
  const effects = createJobEffects(context, {
    ...parts,
    intend: jobs.intend,
    update: jobs.update,
    onProgress: jobs.noteProgress,
  })

  const moves = createMoves(context, { jobs, effects, attempts, viewOf })
  const work = createJobWork(context, { jobs, moves, attempts, runs, limits, viewOf })

  function viewOf(instance: number | undefined): InstanceView | undefined {
    return instance === undefined ? undefined : store.get().accounts[account]?.instances[instance]
  }

  function refuseIfBusy(project: string, except?: string): void {
    const other = jobs.all().find(job => job.project === project && job.id !== except && isJobGoing(job))
    if (other) throw new BerthError(projectBusy)
  }

  /** A failed job and its machine. Another machine costs money again, so that takes a new run that the user agrees to. */
  function failedOne(id: string): { job: Job; view: InstanceView | undefined } {
    const job = jobs.get(id)
    if (job.step !== 'failed') throw new BerthError(notFailed)
    refuseIfBusy(job.project, id)
    const view = viewOf(job.instance)
    if (job.instance !== undefined && !view) throw new BerthError(machineGone)
    return { job, view }
  }

  /** Lets a failed job go on with a change, and with its limits set anew. `what` with the job's name behind it. */
  async function goOn(id: string, what: string, change: (job: Job) => Partial<Job>): Promise<void> {
    const { job, view } = failedOne(id)
    const anew = view ? await limitAnew(job, view) : {}
    await jobs.intend(id, { ...change(job), ...anew })
    activity.add({ account, instance: job.instance, kind: 'user', text: `Asked to ${what} ${job.name}` })
    notifications.withdraw(jobAlertId(account, job))
    work.restart(id)
  }

  /**
   * Sets the agreed stops anew whose limits have ended, before the machine starts again: a duration from now, a cost on
   * top of what it has cost. Returns what changes of the job.
   */
  async function limitAnew(job: Job, machine: InstanceView): Promise<Partial<Job>> {
    const at = now()
    const open = limits.all().filter(limit => limit.instance === machine.id && !limit.ended)
    const ended = job.stops.filter(({ when }) => !open.some(limit => limit.when.kind === when.kind))
    if (ended.length === 0) return {}
    const soFar = machine.spent.micros / 1_000_000
    const fresh = ended.map(({ when, ...stop }) =>
      limitOfRental(
        { ...stop, when: when.kind === 'cost' ? { ...when, dollars: when.dollars + soFar } : when },
        { id: `g${context.newId()}`, instance: machine.id },
        at,
      ),
    )
    await limits.put(...fresh)
    const bound = boundOf(job.stops, machine.pricePerHour)
    return bound === undefined ? {} : { most: jobCostBy(job, at) + bound }
  }

  return {
    async plan(project, spec, chosen) {
      // First, since it throws at once, and nobody would await the search then.
      const { path } = parts.projects.folder(project)
      const [{ secrets, ...market }, scan] = await Promise.all([
        planMarket(context, attempts, spec, chosen),
        context.sync.scan(path),
      ])
      return {
        ...market,
        spec,
        keeping: keepingOf(spec),
        scan,
        missingSecrets: parts.secrets.missing(secrets),
      }
    },
    agreed(id) {
      const job = jobs.get(id)
      return { text: job.text, spec: job.spec, stops: job.stops }
    },
    async start({ project, text, spec, offer, stops, keeping, price, secretFiles }) {
      refuseIfBusy(project)
      const id = `j${context.newId()}`
      await jobs.add({
        id,
        project,
        folder: parts.projects.folder(project).path,
        name: spec.name ?? parts.projects.name(project),
        text,
        spec,
        offer,
        stops: [...stops],
        keeping,
        price,
        secretFiles: [...secretFiles],
        step: 'renting',
        createdAt: now(),
        attemptSeries: `r${context.newId()}`,
        spentBefore: 0,
        moved: 0,
      })
      const job = jobs.get(id)
      activity.add({ account, kind: 'user', text: `Asked to run ${job.name}` })
      work.work(id)
      return id
    },
    async cancel(id) {
      const job = jobs.get(id)
      if (!isJobGoing(job) && job.step !== 'failed') return
      const cancelled = { ...ended(job, 'cancelled', now()), halting: undefined, withdrawing: true }
      await jobs.intend(id, cancelled)
      activity.add({
        account,
        instance: job.instance,
        kind: 'user',
        text: `Gave up ${job.name}`,
        detail: given(job),
      })
      notifications.withdraw(jobAlertId(account, job))
      effects.abort(id)
      work.restart(id)
    },
    async end(id) {
      const { commandRun } = jobs.get(id)
      if (commandRun === undefined) return
      await jobs.intend(id, { endedByUser: true })
      await runs.end(commandRun)
    },
    async fetch(id) {
      const { view } = failedOne(id)
      if (!view) throw new BerthError(machineGone)
      await goOn(id, 'download the results of', job => fetchingAgain(job, view))
    },
    async retry(id) {
      const { view } = failedOne(id)
      await goOn(id, 'go on with', job => againFromFailure(job, view, `r${context.newId()}`))
    },
    async dismiss(id) {
      const job = jobs.get(id)
      if (isJobGoing(job) || job.leaving || job.withdrawing) throw new BerthError(stillGoing)
      await jobs.remove(id)
      notifications.withdraw(jobAlertId(account, job))
    },
    mustKeep: instance =>
      jobs.all().some(job => job.instance === instance && (isJobGoing(job) || job.step === 'failed')),
    onPoll: work.onPoll,
    show: jobs.show,
    dueAt(after) {
      const moments = jobs
        .all()
        .flatMap(job => checkpointDue(job) ?? (job.step === 'failed' ? (job.keptUntil ?? []) : []))
      return Math.min(...moments.filter(moment => moment > after))
    },
    async flush() {
      await work.rest()
      await jobs.flush()
    },
  }
}

/** What giving a job up does to its machine. */
function given({ instance }: Job): string {
  return instance === undefined
    ? 'The machine that is being rented for it is destroyed.'
    : `#${instance} is destroyed.`
}

const projectBusy = {
  code: 'project_busy',
  message: 'This project runs already.',
  advice: 'Wait for its end, or give it up first.',
}
const notFailed = { code: 'not_failed', message: 'It has not failed.' }
const stillGoing = { code: 'still_running', message: 'It is still going on.', advice: 'Cancel it first.' }
