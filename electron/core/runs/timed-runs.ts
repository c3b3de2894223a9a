import { createHash } from 'node:crypto'
import { isDaily, nextStart } from '#shared/project/start-time.ts'
import type { AccountContext } from '../account-context.ts'
import { isBusy, isOfProject, type NewRun, type ProjectRun, type Run } from './model.ts'
import type { StoredRuns } from './stored-runs.ts'

/** Runs that begin at a time. */
export class TimedRuns {
  readonly #context: Pick<AccountContext, 'account' | 'activity' | 'now'>
  readonly #runs: Pick<StoredRuns, 'all' | 'find' | 'intend' | 'update'>
  readonly #following = new Set<string>()

  constructor(
    context: Pick<AccountContext, 'account' | 'activity' | 'now'>,
    runs: Pick<StoredRuns, 'all' | 'find' | 'intend' | 'update'>,
  ) {
    this.#context = context
    this.#runs = runs
  }

  /** Whether another run of its project is in progress, which has to end first. */
  isBusy({ id, project }: Run): boolean {
    return this.#runs.all().some(run => run.id !== id && run.project?.id === project?.id && isBusy(run))
  }

  /** Begins a run, unless clocks here show another time than when it was put on the list, as after a change of the time zone. */
  async begin(run: Run): Promise<void> {
    const { start } = run.project?.spec ?? {}
    const { startsAt } = run
    const due = start && startsAt ? nextStart(start, startsAt - 1) : startsAt
    if (due !== startsAt) {
      await this.#runs.intend(run.id, { startsAt: due })
      return
    }
    await this.#runs.intend(run.id, { startsAt: undefined })
    this.#note(run, `Began ${run.name}`, 'Its time has come.')
  }

  /** Until the next day. */
  async postpone(run: Run): Promise<void> {
    const { now } = this.#context
    const { start = '' } = run.project?.spec ?? {}
    await this.#runs.intend(run.id, { startsAt: nextStart(start, now()) })
    this.#note(
      run,
      `${run.name} didn’t begin at ${start.split(' ').at(-1)}`,
      'This computer slept, Berth didn’t run, or another run of the project was in progress. It begins the next day.',
    )
  }

  /** Puts the next run on the list for each that runs every day and has ended; nothing follows one that was cancelled. */
  async follow(start: (newRun: NewRun, id: string) => Promise<unknown>): Promise<void> {
    const { now } = this.#context
    for (const run of this.#runs.all()) {
      if (!isToFollow(run) || this.#following.has(run.id)) continue
      this.#following.add(run.id)
      const id = `x${createHash('sha256').update(run.id).digest('hex').slice(0, 16)}`
      try {
        if (!this.#runs.find(id)) await start(nextDay(run, now()), id)
        await this.#runs.update(run.id, { followed: true })
      } finally {
        this.#following.delete(run.id)
      }
    }
  }

  #note({ instance }: Run, text: string, detail?: string) {
    const { activity, account } = this.#context
    return activity.add({ account, instance, kind: 'berth', text, detail })
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
