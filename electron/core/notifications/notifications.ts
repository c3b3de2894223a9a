import type { CommandName } from '../../contract/commands.ts'
import type { AccountId } from '../../contract/ids.ts'
import { accountPrefix } from '../../contract/reading.ts'
import type { AccountView, Place } from '../../contract/state.ts'
import type { Notice, Notifier } from '../../ports/notifier.ts'
import type { Activity } from '../app/activity.ts'
import { goTo } from '../app/go-to.ts'
import { problemOf } from '../app/problems.ts'
import type { Store } from '../state/store.ts'
import type { Alert, AlertButton } from './alert.ts'
import type { AlertedState } from './alerted.ts'
import { lowCreditAlert } from './alerts.ts'
import { isBeforeUser, type PagePlace } from './before-user.ts'
import { warningHolds } from './instance-warnings.ts'
import type { PageNotices } from './page-notices.ts'

/** Tells alerts: as native notifications, or on the page where this machine has none. */
export interface Notifications {
  /** Writes them into Activity, and tells those of kinds that the user wants told. */
  tell(account: AccountId, alerts: readonly Alert[]): void
  /** The user answered one: its text was clicked, or one of its buttons. */
  answer(id: string, action: string | undefined): void
  dismiss(id: string): void
  /** Tells something of Berth's own; `answered` does what its text or button stands for, else Activity is shown. */
  say(notice: Notice, answered?: (action: string | undefined) => void): void
  /** The user got in, by whatever way: that it is ready is no news any more, whoever said so. */
  entered(account: AccountId, instance: number): void
  /** What a page shows now; without a place, that it has gone. */
  pageIsAt(page: object, place?: PagePlace): void
  /** Takes back one alert, by its id: what it told of is over. */
  withdraw(id: string): void
  /** From here on, the buttons that give a command do. */
  onCommand(give: (name: CommandName, args: unknown) => Promise<unknown>): void
  /**
   * Takes back what a fresh poll of the account shows to be over: a machine that is gone or in another state, credit
   * that is back. What stays on the page is told as it is now.
   */
  onPoll(account: AccountView, alerted: AlertedState): void
}

export interface NotificationsContext {
  store: Store
  activity: Activity
  notifier: Pick<Notifier, 'onClick'>
  pageNotices: PageNotices
}

export function createNotifications({
  store,
  activity,
  notifier,
  pageNotices,
}: NotificationsContext): Notifications {
  /** Where a click on each leads. Kept beyond its closing: some desktops click what is in their history. */
  const shown = new Map<string, { account: AccountId; alert: Alert }>()
  const own = new Map<string, (action: string | undefined) => void>()
  const pages = new Map<object, PagePlace>()

  let give: (name: CommandName, args: unknown) => Promise<unknown> = async () => undefined

  /** The button was clicked somewhere that shows no answer: what went wrong is an alert of its own. */
  function alertFailure({ account, alert }: { account: AccountId; alert: Alert }, error: unknown): void {
    const { message, advice } = problemOf(error)
    notifications.tell(account, [
      {
        ...alert,
        id: `${alert.id}/failed`,
        title: `${alert.title}: that did not work`,
        body: advice === undefined ? message : `${message} ${advice}`,
        actions: [],
      },
    ])
  }

  /** A notification stays as it is told; the page says whose it is by the accounts there are when it is read. */
  function show(account: AccountId, alert: Alert): void {
    const body = `${accountPrefix(store.get().accounts, account)}${alert.body}`
    pageNotices.show({ ...alert, body }, { account, body: alert.body })
  }

  const notifications: Notifications = {
    tell(account, alerts) {
      for (const alert of alerts) {
        activity.add({
          account,
          kind: 'alert',
          text: alert.title,
          detail: alert.body,
          instance: alert.instance,
        })
        if (!store.get().settings.alerts[alert.kind]) continue
        shown.set(alert.id, { account, alert })
        if (!isBeforeUser(alert, account, store.get(), pages.values())) show(account, alert)
      }
    },
    say(notice, answered) {
      if (answered) own.set(notice.id, answered)
      pageNotices.show(notice)
    },
    answer(id, action) {
      pageNotices.takeOff(id)
      const known = shown.get(id)
      if (!known) {
        const answered = own.get(id)
        if (answered) answered(action)
        else goWhereItWas(store, id)
        return
      }
      const command = known.alert.actions.find(button => button.id === action)?.command
      if (command) {
        void give(command.name, command.args).catch(error => alertFailure(known, error))
        return
      }
      goTo(store, known.account, placeOf(known.alert, action))
    },
    onPoll(account, alerted) {
      for (const [id, { account: of, alert }] of shown) {
        if (of !== account.id) continue
        if (!holds(alert, account, alerted)) notifications.withdraw(id)
        else if (alert.kind === 'lowCredit' && pageNotices.isOnPage(id)) alertAgain(account, alert)
      }
    },
    entered(account, instance) {
      for (const [id, { account: of, alert }] of shown)
        if (of === account && alert.instance === instance && alert.state === 'running')
          notifications.withdraw(id)
    },
    withdraw(id) {
      shown.delete(id)
      pageNotices.takeOff(id)
    },
    onCommand(giveCommand) {
      give = giveCommand
    },
    pageIsAt(page, place) {
      if (place) pages.set(page, place)
      else pages.delete(page)
    },
    dismiss: id => pageNotices.takeOff(id),
  }

  /** What stays on the page says what is so now, not what was when it came. */
  function alertAgain(account: AccountView, before: Alert): void {
    if (account.credit === undefined) return
    const alert = lowCreditAlert(account, account.credit)
    if (alert.title === before.title && alert.body === before.body) return
    shown.set(alert.id, { account: account.id, alert })
    show(account.id, alert)
  }

  notifier.onClick((id, action) => notifications.answer(id, action))
  return notifications
}

/** A notice of Berth's own, or of an earlier Berth's, which the desktop kept: its id tells what it was about. */
function goWhereItWas(store: Store, id: string): void {
  const [account = '', about = ''] = id.split('/')
  if (!Object.hasOwn(store.get().accounts, account)) {
    goTo(store, undefined, { screen: 'activity' })
    return
  }
  const instance = /^[1-9]\d{0,15}$/.test(about) ? Number(about) : undefined
  goTo(store, account, { screen: 'instances', instance })
}

/** Whether what an alert said is still so, as far as a poll of the account can tell. */
function holds(alert: Alert, account: AccountView, alerted: AlertedState): boolean {
  if (alert.kind === 'lowCredit') return alerted.lowCredit
  if (alert.instance === undefined || alert.state === undefined) return warningHolds(alert, alerted)
  return account.instances[alert.instance]?.state === alert.state
}

const asks: Partial<Record<AlertButton['id'], 'bid' | 'replace'>> = {
  raise_bid: 'bid',
  try_another: 'replace',
}

/** A button leads to the question it stands for; nothing is spent or destroyed by a click on a notification. */
function placeOf({ place, actions }: Alert, action: string | undefined): Place {
  const ask = actions.find(({ id }) => id === action)?.id
  if (ask === 'top_up') return { screen: 'account' }
  if (place.screen !== 'instances' || ask === undefined) return place
  const question = asks[ask]
  return question ? { ...place, ask: question } : place
}
