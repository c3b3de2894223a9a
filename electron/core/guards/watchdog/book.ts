import * as v from 'valibot'
import type { Problem } from '../../../contract/problem.ts'
import type { AccountContext } from '../../account-context.ts'
import { same } from '../../state/same.ts'
import { openDocument } from '../../storage/json-file.ts'
import { KeptWatchdog, watchdogView } from './watchdog.ts'

/** The watchdogs of one account, as they are remembered and as State shows them: one for an instance. */
export interface WatchdogBook {
  all(): readonly KeptWatchdog[]
  find(instance: number): KeptWatchdog | undefined
  /** Resolves once what is wanted is on disk; rejects where it cannot be, and then nothing has changed. */
  intend(kept: KeptWatchdog): Promise<void>
  /** Writes down what was seen, on disk where that is possible. */
  keep(kept: KeptWatchdog): Promise<void>
  remove(instance: number): Promise<void>
  /** Why the last visit failed, by instance; shown with the next `show`. */
  readonly problems: Map<number, Problem>
  show(): void
  flush(): Promise<void>
}

export async function openWatchdogBook(context: AccountContext): Promise<WatchdogBook> {
  const { account, store, ending } = context
  const document = await openDocument({
    files: context.files,
    clock: context.machine.clock,
    name: `${context.folder}/watchdogs.json`,
    schema: v.array(KeptWatchdog),
    empty: [],
    onBroken: context.onBroken,
  })
  const problems = new Map<number, Problem>()

  function show(): void {
    const views = Object.fromEntries(
      document.get().map(kept => [kept.instance, watchdogView(kept, problems.get(kept.instance))]),
    )
    if (ending.aborted || same(store.get().accounts[account]?.watchdogs, views)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.watchdogs = views
    })
  }

  const replaced = (instance: number, kept: KeptWatchdog | undefined) => (all: KeptWatchdog[]) => [
    ...all.filter(other => other.instance !== instance),
    ...(kept ? [kept] : []),
  ]

  async function record(instance: number, kept: KeptWatchdog | undefined): Promise<void> {
    const written = document.record(replaced(instance, kept))
    show()
    await written
  }

  return {
    all: document.get,
    find: instance => document.get().find(kept => kept.instance === instance),
    async intend(kept) {
      await document.write(replaced(kept.instance, kept))
      show()
    },
    keep: kept => record(kept.instance, kept),
    remove: instance => record(instance, undefined),
    problems,
    show,
    flush: document.flush,
  }
}
