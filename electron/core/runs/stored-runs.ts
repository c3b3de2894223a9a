import { isGoing } from '#contract/automation/run.ts'
import type { SyncProgress } from '#contract/instance/sync.ts'
import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { withStaleWatchdog } from './decide.ts'
import { Run } from './model.ts'
import { type Hindrance, runView } from './view.ts'

/** Changed fields of a run; an undefined one is removed. */
export type RunChange = Partial<Run>

/** The runs of one account, as stored and as shown in State. */
export interface StoredRuns
  extends Pick<Collection<Run, string>, 'all' | 'find' | 'get' | 'add' | 'show' | 'flush'> {
  /** Records something that happened. Never rejects, even where it cannot be stored. */
  update(id: string, change: RunChange): Promise<Run | undefined>
  /** The same for changes that may be lost, stored within a second. */
  note(id: string, change: RunChange): void
  remove(id: string): Promise<void>
  /** Why the last try failed, and when the next one is, epoch seconds of the account's time. */
  setProblem(id: string, problem: Problem | undefined, nextTryAt?: number): void
  /** How far the download of its folder is; undefined while there is none. */
  noteProgress(id: string, progress: SyncProgress | undefined): void
}

/** Milliseconds between two updates of progress in State. */
const updateInterval = 300

export async function openStoredRuns(context: AccountContext): Promise<StoredRuns> {
  const { clock } = context.machine
  const problems = new Map<string, Hindrance>()
  const progress = new Map<string, SyncProgress>()
  const runs = await openCollection(context, {
    name: 'runs',
    schema: Run,
    key: ({ id }) => id,
    missing: { code: 'no_such_run', message: 'That run is no longer on the list.' },
    view: all => ({
      runs: Object.fromEntries(
        all.map(run => [
          run.id,
          runView(run, { hindrance: problems.get(run.id), sync: progress.get(run.id) }),
        ]),
      ),
    }),
  })
  let cancelUpdate: (() => void) | undefined

  function show(): void {
    cancelUpdate?.()
    cancelUpdate = undefined
    runs.show()
  }

  const changed = (change: RunChange) => (run: Run) => withStaleWatchdog(run, { ...run, ...change } as Run)

  return {
    ...runs,
    show,
    update: (id, change) => runs.update(id, changed(change)),
    note(id, change) {
      const run = runs.find(id)
      if (run) runs.putSoon(changed(change)(run))
      cancelUpdate ??= clock.after(updateInterval, show)
    },
    remove(id) {
      problems.delete(id)
      return runs.forget(id)
    },
    setProblem(id, problem, nextTryAt) {
      if (problem) problems.set(id, { problem, nextTryAt })
      else if (!problems.delete(id)) return
      show()
    },
    noteProgress(id, told) {
      if (told) progress.set(id, told)
      else progress.delete(id)
      cancelUpdate ??= clock.after(updateInterval, show)
    },
    async flush() {
      cancelUpdate?.()
      await runs.flush()
    },
  }
}

/** The oldest finished runs, beyond the number that is kept. */
export function surplusRuns(runs: readonly Run[], most: number): readonly Run[] {
  const over = runs.filter(run => !isGoing(run))
  return over.slice(0, Math.max(0, over.length - most))
}
