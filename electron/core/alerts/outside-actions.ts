import type { Clock } from '#platform/platform.ts'
import { dangers, undoableWords } from '#shared/danger.ts'
import { accountNow } from '#shared/derived.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import { secondsToUndo, type UndoableAction } from '#shared/instance/instance.ts'
import { goTo, type Store } from '../storage/store.ts'
import type { GiveCommand, Notifications } from './notifications.ts'

/** An instance that is acted on from outside the page. */
export interface ActedOn {
  account: AccountId
  instance: number
}

export interface OutsideActionsContext {
  store: Store
  clock: Clock
  notifications: Pick<Notifications, 'say' | 'withdraw'>
  give: GiveCommand
}

/** Actions from the tray and from notifications, with the question and the undo that a row of the page has. */
export function createOutsideActions({ store, clock, notifications, give }: OutsideActionsContext) {
  /** Acts after five seconds, in which a notice offers to undo it. Rejects where it was refused. */
  async function act({ account, instance }: ActedOn, action: UndoableAction): Promise<void> {
    const view = store.get().accounts[account]?.instances[instance]
    const name = shortInstanceName(view ?? { id: instance })
    const { doing, undone } = undoableWords[action]
    const sent = give('actSoon', { account, instance, action })
    const id = `${account}/${instance}/undo`
    const undo = async () => {
      await give('undoAction', { account, instance })
      const told = { id: `${account}/${instance}/undone`, title: `${name} ${undone}`, body: 'Undone.' }
      notifications.say({ ...told, urgency: 'normal', actions: [] })
    }
    notifications.say(
      {
        id,
        urgency: 'normal',
        title: `${doing} ${name}`,
        body: `In ${secondsToUndo} seconds.`,
        actions: [{ id: 'undo', label: 'Undo' }],
      },
      answer => {
        // Once it is sent, its undo is refused; the row shows how it goes on.
        if (answer === 'undo') void undo().catch(() => undefined)
        else goTo(store, account, { screen: 'instances', instance })
      },
    )
    try {
      await sent
    } finally {
      notifications.withdraw(id)
    }
  }

  return {
    act,
    /** The same, but where there is a question, the page asks it. */
    async askOrAct(on: ActedOn, action: UndoableAction): Promise<void> {
      const account = store.get().accounts[on.account]
      const view = account?.instances[on.instance]
      const question =
        account &&
        view &&
        dangers[action].question(account, { instances: [view] }, accountNow(account.clock, clock.now()))
      if (!question) return act(on, action)
      goTo(store, on.account, { screen: 'instances', instance: on.instance, ask: action })
    },
  }
}
