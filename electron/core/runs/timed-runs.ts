import { createHash } from 'node:crypto'
import { isDaily, nextStart } from '#shared/project/start-time.ts'
import type { AccountContext } from '../account-context.ts'
import { isBusy, isOfProject, type ProjectRun, type Run } from './model.ts'
import type { NewRun } from './new-runs.ts'
import type { StoredRuns } from './stored-runs.ts'

export type TimedRuns = ReturnType<typeof createTimedRuns>

/** Runs that begin at a time. */
export function createTimedRuns(
  { account, activity, now }: Pick<AccountContext, 'account' | 'activity' | 'now'>,
  runs: Pick<StoredRuns, 'all' | 'find' | 'intend' | 'update'>,
) {
  const note = ({ instance }: Run, text: string, detail?: string) =>
    activity.add({ account, instance, kind: 'berth', text, detail })
  const following = new Set<string>()

  return {
    /** Whether another run of its project is in progress, which has to end first. */
    isBusy({ id, project }: Run): boolean {
      return runs.all().some(run => run.id !== id && run.project?.id === project?.id && isBusy(run))
    },
    async begin(run: Run): Promise<void> {
      await runs.intend(run.id, { startsAt: undefined })
      note(run, `Began ${run.name}`, 'Its time has come.')
    },
    /** Until the next day. */
    async postpone(run: Run): Promise<void> {
      const { start = '' } = run.project?.spec ?? {}
      await runs.intend(run.id, { startsAt: nextStart(start, now()) })
      note(
        run,
        `${run.name} didn’t begin at ${start.split(' ').at(-1)}`,
        'This computer slept, Berth didn’t run, or another run of the project was in progress. It begins the next day.',
      )
    },
    /** Puts the next run on the list for each that runs every day and has ended; nothing follows one that was cancelled. */
    async follow(start: (newRun: NewRun, id: string) => Promise<unknown>): Promise<void> {
      for (const run of runs.all()) {
        if (!isToFollow(run) || following.has(run.id)) continue
        following.add(run.id)
        const id = `x${createHash('sha256').update(run.id).digest('hex').slice(0, 16)}`
        try {
          if (!runs.find(id)) await start(nextDay(run, now()), id)
          await runs.update(run.id, { followed: true })
        } finally {
          following.delete(run.id)
        }
      }
    },
  }
}

function isToFollow(run: Run): run is ProjectRun {
  const isOver = run.step === 'done' || run.step === 'failed'
  return isOver && isOfProject(run) && !run.followed && isDaily(run.project.spec.start)
}

function nextDay({ name, command, project, keep }: ProjectRun, at: number): NewRun {
  const { spec } = project
  return {
    name,
    command,
    project,
    keep,
    afterwards: spec.after ?? 'destroy',
    watchdog: false,
    stuckAfter: 0,
    afterwardsIfStuck: false,
    startsAt: nextStart(spec.start ?? '', at),
  }
}
