import type { CommandName } from '../../contract/commands.ts'
import type { AccountId } from '../../contract/ids.ts'
import type { AccountView, Place, State } from '../../contract/state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Notice, Notifier } from '../../ports/notifier.ts'
import type { Activity } from '../activity/activity.ts'
import { problemOf } from '../problems.ts'
import type { Store } from '../store.ts'
import type { Alert, AlertButton } from './alerts.ts'
import type { Told } from './told.ts'

/** Tells alerts: as native notifications, or on the page where this machine has none. */
export interface Teller {
  tell(account: AccountId, alerts: readonly Alert[]): void
  /** The user answered one: its text was clicked, or one of its buttons. */
  answer(id: string, action: string | undefined): void
  dismiss(id: string): void
  /** Takes back one alert, by its id: what it told of is over. */
  withdraw(id: string): void
  /** From here on, the buttons that give a command do. */
  onCommand(give: (name: CommandName, args: unknown) => Promise<unknown>): void
  /** Takes back what a fresh look at the account shows to be over: a machine that is gone or in another state, credit that is back. */
  takeBack(account: AccountView, told: Told): void
}

/** Alerts on the page at once; older ones make room. */
const mostOnPage = 20

export function createTeller(store: Store, clock: Clock, notifier: Notifier, activity: Activity): Teller {
  /** Where a click on each leads. Kept beyond its closing: some desktops click what is in their history. */
  const told = new Map<string, { account: AccountId; alert: Alert }>()

  function showOnPage(notice: Notice): void {
    store.change(draft => {
      draft.notices[notice.id] = { ...notice, actions: [...notice.actions], at: clock.now() }
      const oldest = Object.values(store.get().notices).sort((a, b) => a.at - b.at)
      for (const { id } of oldest.slice(0, Math.max(0, oldest.length - mostOnPage))) delete draft.notices[id]
    })
  }

  let give: (name: CommandName, args: unknown) => Promise<unknown> = async () => undefined

  /** The button was clicked somewhere that shows no answer: what went wrong is an alert of its own. */
  function tellFailure({ account, alert }: { account: AccountId; alert: Alert }, error: unknown): void {
    const { message, advice } = problemOf(error)
    teller.tell(account, [
      {
        ...alert,
        id: `${alert.id}/failed`,
        title: `${alert.title}: that did not work`,
        body: advice === undefined ? message : `${message} ${advice}`,
        actions: [],
      },
    ])
  }

  const teller: Teller = {
    tell(account, alerts) {
      for (const alert of alerts) {
        told.set(alert.id, { account, alert })
        activity.add({
          account,
          kind: 'alert',
          text: alert.title,
          detail: alert.body,
          ...(alert.instance === undefined ? {} : { instance: alert.instance }),
        })
        const notice: Notice = {
          ...alert,
          body: `${accountPrefix(store.get().accounts, account)}${alert.body}`,
        }
        if (!notifier.available) showOnPage(notice)
        else void notifier.show(notice).catch(() => showOnPage(notice))
      }
    },
    answer(id, action) {
      teller.dismiss(id)
      const known = told.get(id)
      if (!known) return
      const command = known.alert.actions.find(button => button.id === action)?.command
      if (command) {
        void give(command.name, command.args).catch(error => tellFailure(known, error))
        return
      }
      goTo(store, known.account, placeOf(known.alert, action))
    },
    takeBack(account, { lowCredit }) {
      for (const [id, { account: of, alert }] of told) {
        if (of !== account.id || holds(alert, account, lowCredit)) continue
        teller.withdraw(id)
      }
    },
    withdraw(id) {
      told.delete(id)
      teller.dismiss(id)
      void notifier.close(id).catch(() => undefined)
    },
    onCommand(giveCommand) {
      give = giveCommand
    },
    dismiss(id) {
      if (!(id in store.get().notices)) return
      store.change(draft => {
        delete draft.notices[id]
      })
    },
  }
  notifier.onClick((id, action) => teller.answer(id, action))
  return teller
}

/** `Lab: ` where the user could take an alert for another account's: the demo is never meant without its name. */
function accountPrefix(accounts: State['accounts'], id: AccountId): string {
  const account = accounts[id]
  if (!account) return ''
  const real = Object.values(accounts).filter(({ demo }) => !demo).length
  return real > (account.demo ? 0 : 1) ? `${account.name}: ` : ''
}

/** Whether what an alert said is still so, as far as a look at the account can tell. */
function holds(alert: Alert, account: AccountView, lowCredit: boolean): boolean {
  if (alert.kind === 'lowCredit') return lowCredit
  if (alert.instance === undefined || alert.state === undefined) return true
  return account.instances[alert.instance]?.state === alert.state
}

const asks: Partial<Record<AlertButton['id'], 'bid' | 'replace'>> = {
  raise_bid: 'bid',
  try_another: 'replace',
}

/** A button leads to the question it stands for; nothing is spent or destroyed by a click on a notification. */
function placeOf({ place, actions }: Alert, action: string | undefined): Place {
  const ask = actions.find(({ id }) => id === action)?.id
  if (place.screen !== 'instances' || ask === undefined) return place
  const question = asks[ask]
  return question ? { ...place, ask: question } : place
}

/** Sends the page to a place, and shows the account it belongs to. */
export function goTo(store: Store, account: AccountId, place: Place): void {
  store.change(draft => {
    if (account in store.get().accounts) draft.shown = account
    draft.goTo = { sequence: (store.get().goTo?.sequence ?? 0) + 1, place }
  })
}
