import * as v from 'valibot'
import type { AccountContext, Automation } from '../account-context.ts'
import { heldBack } from '../guards/guard-veto.ts'
import type { Failovers } from '../renting/attempts/service.ts'
import type { Runs } from '../runs/runs.ts'
import { same } from '../state/same.ts'
import { openDocument } from '../storage/json-file.ts'
import { KeptPrices } from './prices.ts'
import { Watch } from './watch.ts'
import { watchAlertId } from './watch-alerts.ts'
import { createWatches, type Watches } from './watches.ts'

export interface KeptWatches extends Omit<Watches, 'looked' | 'dueAt'>, Automation {}

/** The watches of one account, in its folder on disk and in State. */
export async function openWatches(
  context: AccountContext,
  failovers: Pick<Failovers, 'start' | 'find'>,
  runs: Pick<Runs, 'startOn' | 'forget'>,
): Promise<KeptWatches> {
  const { account, store, machine, files, folder, onBroken, activity, teller } = context
  const kept = { files, clock: machine.clock, onBroken }
  const [document, prices] = await Promise.all([
    openDocument({ ...kept, name: `${folder}/watches.json`, schema: v.array(Watch), empty: [] }),
    openDocument({
      ...kept,
      name: `${folder}/watch-prices.json`,
      schema: v.record(v.string(), KeptPrices),
      empty: {},
    }),
  ])

  const watches = createWatches({
    ...context,
    document,
    prices,
    failovers,
    runs,
    heldBack: more => heldBack(store.get().accounts[account], { more }, context.now()),
    changed: show,
    note: (kind, text, detail) => activity.add({ account, kind, text, ...(detail ? { detail } : {}) }),
    alert: alert => {
      if (store.get().settings.alerts.watch) teller.tell(account, [alert])
    },
    withdraw: watch => teller.withdraw(watchAlertId(watch)),
  })

  function show(): void {
    const view = watches.view()
    if (context.ending.aborted || same(store.get().accounts[account]?.watches, view)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.watches = view
    })
  }

  return {
    ...watches,
    looked: () => watches.looked(),
    resume: show,
    secretOwners: () => document.get().flatMap(({ id, wish }) => (wish.rents ? id : [])),
    async flush() {
      await Promise.all([document.flush(), prices.flush()])
    },
  }
}
