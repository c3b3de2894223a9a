import * as v from 'valibot'
import type { AccountContext, Automation } from '../../account-context.ts'
import { heldBack } from '../../guards/guard-veto.ts'
import { instanceName } from '../../notifications/wording.ts'
import { same } from '../../state/same.ts'
import { openDocument } from '../../storage/json-file.ts'
import type { Failovers } from '../attempts/attempts.ts'
import type { Rentals } from '../rentals/rentals.ts'
import { createRecoveries, type Recoveries } from './recoveries.ts'
import { Recovery } from './recovery.ts'
import type { RecoveryEvent } from './recovery-context.ts'

/** The recoveries of one account, in its folder on disk and in State. */
export interface KeptRecoveries extends Automation, Pick<Recoveries, 'choose'> {}

export async function openRecoveries(
  context: AccountContext,
  rentals: Pick<Rentals, 'ofInstance' | 'knows'>,
  failovers: Pick<Failovers, 'start' | 'cancel' | 'find' | 'written'>,
): Promise<KeptRecoveries> {
  const { account, store, machine, files, folder, onBroken, activity, teller } = context
  const document = await openDocument({
    files,
    clock: machine.clock,
    onBroken,
    name: `${folder}/recoveries.json`,
    schema: v.record(v.string(), Recovery),
    empty: {},
  })
  const recoveries = createRecoveries({
    document,
    failovers,
    rentals,
    client: context.client,
    record: context.record,
    heldBack: starting => heldBack(store.get().accounts[account], starting, context.now()),
    ending: context.ending,
    now: context.now,
    newId: context.newId,
    changed: show,
    poll: context.poll,
    tell,
  })

  function tell({ instance, text, kind, problem }: RecoveryEvent): void {
    const { id } = instance
    activity.add({
      account,
      instance: id,
      kind: kind === 'held' ? 'error' : 'berth',
      text: `${text}: ${instanceName(instance)}`,
      ...(problem ? { detail: problem.message } : {}),
    })
    if (kind === 'note' || !store.get().settings.alerts.recovery) return
    const { message, advice } = problem ?? { message: 'It starts again by itself.' }
    teller.tell(account, [
      {
        id: `${account}/recovery/${id}`,
        kind: 'recovery',
        instance: id,
        title: `${instanceName(instance)}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
        body: advice === undefined ? message : `${message} ${advice}`,
        urgency: kind === 'held' ? 'critical' : 'normal',
        actions: kind === 'held' ? [{ id: 'raise_bid', label: 'Raise bid' }] : [],
        place: { screen: 'instances', instance: id },
      },
    ])
  }

  function show(): void {
    const shown = store.get().accounts[account]
    const view = recoveries.view()
    if (context.ending.aborted || !shown || same(shown.recoveries, view)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.recoveries = view
    })
  }

  show()
  return {
    choose: recoveries.choose,
    looked({ account: { instances }, records }) {
      recoveries.looked({ instances, records })
      show()
    },
    resume: show,
    dueAt: recoveries.dueAt,
    flush: document.flush,
  }
}
