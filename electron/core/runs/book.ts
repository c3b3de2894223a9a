import * as v from 'valibot'
import type { RunView } from '../../contract/automation/run.ts'
import { isGoing } from '../../contract/automation/run.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { present } from '../state/present.ts'
import { same } from '../state/same.ts'
import { openDocument } from '../storage/json-file.ts'
import { type Hindrance, KeptRun, type Run, retold, runView } from './run.ts'

/** What may be changed of a run; a field that is given as undefined goes. */
export type RunChange = { [Field in keyof Run]?: Run[Field] | undefined }

/** The runs of one account, as they are remembered and as State shows them. */
export interface RunBook {
  all(): readonly Run[]
  find(id: string): Run | undefined
  /** Throws `no_such_run`. */
  existing(id: string): Run
  /** Resolves once it is on disk; rejects where it cannot be, and then there is no such run. */
  add(run: Run): Promise<void>
  /** Writes down what has happened, on disk where that is possible. Never rejects. */
  update(id: string, change: RunChange): Promise<Run | undefined>
  /** The same for what may be lost: within a second. */
  note(id: string, change: RunChange): void
  remove(id: string): Promise<void>
  /** Why the last try of something failed, and when the next one comes, epoch seconds of the account's time. */
  setProblem(id: string, problem: Problem | undefined, nextTryAt?: number): void
  show(): void
  flush(): Promise<void>
}

/** Milliseconds between two tellings of what flows. */
const tellEvery = 300

export async function openRunBook(context: AccountContext): Promise<RunBook> {
  const { account, store, ending } = context
  const { clock } = context.machine
  const document = await openDocument({
    files: context.files,
    clock,
    name: `${context.folder}/runs.json`,
    schema: v.array(KeptRun),
    empty: [],
    onBroken: context.onBroken,
  })
  const problems = new Map<string, Hindrance>()
  let cancelTelling: (() => void) | undefined
  const find = (id: string) => document.get().find(run => run.id === id)

  function show(): void {
    cancelTelling?.()
    cancelTelling = undefined
    const views: Record<string, RunView> = Object.fromEntries(
      document.get().map(run => [run.id, runView(run, problems.get(run.id))]),
    )
    const shown = store.get().accounts[account]?.runs
    if (ending.aborted || same(shown, views)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      for (const id of Object.keys(shown ?? {})) if (!(id in views)) delete target.runs[id]
      for (const [id, view] of Object.entries(views)) if (!same(shown?.[id], view)) target.runs[id] = view
    })
  }

  const changing = (id: string, change: RunChange) => (runs: Run[]) =>
    runs.map(run => (run.id === id ? retold(run, present({ ...run, ...change }) as Run) : run))

  return {
    all: document.get,
    find,
    existing(id) {
      const run = find(id)
      if (!run) throw new BerthError({ code: 'no_such_run', message: 'That run is no longer on the list.' })
      return run
    },
    async add(run) {
      await document.write(runs => [...runs, run])
      show()
    },
    async update(id, change) {
      const recorded = document.record(changing(id, change))
      show()
      await recorded
      return find(id)
    },
    note(id, change) {
      document.writeSoon(changing(id, change))
      cancelTelling ??= clock.after(tellEvery, show)
    },
    async remove(id) {
      problems.delete(id)
      const recorded = document.record(runs => runs.filter(run => run.id !== id))
      show()
      await recorded
    },
    setProblem(id, problem, nextTryAt) {
      if (problem) problems.set(id, { problem, ...(nextTryAt === undefined ? {} : { nextTryAt }) })
      else if (!problems.delete(id)) return
      show()
    },
    show,
    async flush() {
      cancelTelling?.()
      await document.flush()
    },
  }
}

/** Runs that are over, the oldest first, beyond those that are kept. */
export function surplus(runs: readonly Run[], most: number): readonly Run[] {
  const over = runs.filter(run => !isGoing(run))
  return over.slice(0, Math.max(0, over.length - most))
}
