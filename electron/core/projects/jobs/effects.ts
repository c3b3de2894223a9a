import type { SyncProgress } from '#contract/instance/sync.ts'
import { BerthError } from '#contract/problem.ts'
import { limitsOf } from '#contract/project/bounds.ts'
import type { AccountContext } from '#core/account-context.ts'
import { endAsSeen } from '#core/actions/end-instance.ts'
import type { Rentals } from '#core/renting/rentals.ts'
import { leftBehind } from '#core/runs/afterwards/left-behind.ts'
import type { Runs } from '#core/runs/service.ts'
import type { Change } from '#core/storage/collection.ts'
import { stillAtWork } from '#ssh/runs/runs.ts'
import type { Job } from '../model.ts'
import { requestOf, resultsOf } from '../plan.ts'
import { searchMarket } from '../plan-market.ts'
import type { ProjectSecrets } from '../secrets.ts'
import { commitOf } from './commit.ts'
import { onMachine } from './on-machine.ts'
import { environmentText, inProject, writeEnvironment } from './scripts.ts'

/** The effects of a job. Each may be repeated after a kill, and then does what remains. */
export interface JobEffects {
  rent(job: Job): Promise<void>
  start(job: Job): Promise<void>
  /** Sends folder and environment. */
  send(job: Job): Promise<void>
  run(job: Job, which: 'setupRun' | 'commandRun', command: string): Promise<void>
  /** Downloads results. If `last`, all must arrive: throws `results_missing`, `results_left` or `results_changing`. */
  bring(job: Job, last: boolean): Promise<void>
  end(job: Job, action: 'stop' | 'destroy'): Promise<void>
  destroy(instance: number): Promise<void>
  /** Ends the present upload or download. */
  abort(job: string): void
}

interface EffectParts {
  secrets: ProjectSecrets
  attempts: Rentals
  runs: Runs
  intend(id: string, change: Change<Job>): Promise<void>
  update(id: string, change: Change<Job>): Promise<Job | undefined>
  onProgress(id: string, progress: SyncProgress | undefined): void
}

export function createJobEffects(context: AccountContext, parts: EffectParts): JobEffects {
  const { client, machine, sync, ending } = context
  const { secrets, attempts, runs, update, onProgress } = parts
  const { machineOf, inside, remoteOf } = onMachine(context)
  const syncing = new Map<string, AbortController>()

  async function environmentOf(job: Job): Promise<string> {
    const values: Record<string, string> = {}
    for (const [name, value] of Object.entries(job.spec.env ?? {})) {
      if (typeof value === 'object') {
        const secret = await secrets.get(value.secret)
        if (secret === undefined) throw new BerthError(secretMissing(value.secret))
        values[name] = secret
      } else values[name] = String(value)
    }
    return environmentText(values)
  }

  async function syncWith<Result>(
    { id }: Job,
    work: (options: { signal: AbortSignal; onProgress: (progress: SyncProgress) => void }) => Promise<Result>,
  ): Promise<Result> {
    const abort = new AbortController()
    syncing.set(id, abort)
    try {
      return await work({
        signal: AbortSignal.any([abort.signal, ending]),
        onProgress: progress => onProgress(id, progress),
      })
    } finally {
      syncing.delete(id)
      onProgress(id, undefined)
    }
  }

  return {
    async rent(job) {
      const spec = job.spec
      const { search } = await searchMarket(context, spec)
      const request = requestOf(spec, job.name, job)
      // A machine that it left was not worth keeping, so the best one follows.
      const first = job.moved === 0 ? job.offer : undefined
      const retries = limitsOf(spec, job.price)
      await attempts.start({ search, request, retries, first, why: 'run' }, job.attemptSeries)
    },
    async start({ instance }) {
      if (instance !== undefined) await client().instances.start(instance, { signal: ending })
      await context.poll()
    },
    async send(job) {
      const remote = await remoteOf(job)
      await inside(job, writeEnvironment(job.id), await environmentOf(job))
      const { folder, secretFiles } = job
      await update(job.id, { commit: await commitOf(machine.syncedFolders, folder) })
      await syncWith(job, options =>
        sync.up(machineOf(job), { ...options, folder, remote, confirmed: secretFiles }),
      )
    },
    async run(job, which, command) {
      const id = job[which] ?? `x${context.newId()}`
      await parts.intend(job.id, { [which]: id })
      await runs.start(
        {
          instance: job.instance,
          job: job.id,
          name: which === 'setupRun' ? `Set-up of ${job.name}` : job.name,
          command: inProject(job.id, job.project, command),
          afterwards: 'nothing',
          watchdog: false,
          stuckAfter: 0,
          afterwardsIfStuck: false,
        },
        id,
      )
    },
    async bring(job, last) {
      const paths = resultsOf(job.spec)
      if (paths.length === 0) return
      const remote = await remoteOf(job)
      // Asked before the download, which then has all that they wrote.
      const atWork =
        last && job.commandRun !== undefined ? await inside(job, stillAtWork(job.commandRun)) : ''
      const brought = await syncWith(job, options =>
        sync.down(machineOf(job), { ...options, folder: job.folder, remote, paths, last, by: job.id }),
      )
      await update(job.id, current => {
        const beside = new Set([...(current.brought?.beside ?? []), ...brought.beside.map(({ as }) => as)])
        return {
          ...current,
          brought: { files: brought.filesInAll, beside: [...beside].slice(0, mostBeside) },
        }
      })
      const problem = last ? leftBehind(brought, atWork, 'go on from here') : undefined
      // A command that failed may have written none.
      if (problem && !(job.outcome && problem.code === 'results_missing')) throw new BerthError(problem)
    },
    async end({ instance }, action) {
      if (instance !== undefined) await endAsSeen(context, instance, action, () => !ending.aborted)
    },
    async destroy(instance) {
      await endAsSeen(context, instance, 'destroy', () => !ending.aborted)
    },
    abort: id => syncing.get(id)?.abort(new BerthError(cancelled)),
  }
}

/** The number of names listed of files that were kept beside others. */
const mostBeside = 100

const cancelled = { code: 'cancelled', message: 'It was cancelled.' }
function secretMissing(name: string) {
  return {
    code: 'secret_missing',
    message: `The secret ${name} has no value.`,
    advice: 'Give it one in Projects, then go on from here.',
  }
}
