import * as v from 'valibot'
import type { CommandName } from '#contract/commands.ts'
import type { Notice, Notifier } from '#platform/platform.ts'
import { accountPrefix } from '#shared/derived.ts'
import type { AccountId } from '#shared/ids.ts'
import type { UndoableAction } from '#shared/instance/instance.ts'
import type { Settings } from '#shared/settings.ts'
import type { AccountView, Place, State } from '#shared/state.ts'
import type { Activity } from '../activity.ts'
import { problemOf } from '../bridge/problems.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import { goTo, isDeepEqual, type Store } from '../storage/store.ts'
import type { Alert, AlertButton } from './events.ts'
import type { PageNotices } from './page-notices.ts'
import { AlertedState, alertsAfterPoll, lowCreditAlert, stillHolds } from './poll-alerts.ts'

/** A page's current view, as reported by the page. */
export interface PagePlace {
  /** Whether the page's window has the focus, as the page sees it. */
  focused: boolean
  /** Whether the window is before the user, as the window itself knows; absent in a browser. */
  isInFront?: (() => boolean) | undefined
  screen: string
  instance?: number
  /** Whether it has text that is not saved. */
  unsaved?: boolean
}

export type GiveCommand = (name: CommandName, args: unknown) => Promise<unknown>

/** Shows alerts as native notifications, or on the page where this computer has none. */
export interface Notifications {
  /** Adds alerts to Activity, and shows those whose kinds are enabled in the settings. */
  tell(account: AccountId, alerts: readonly Alert[]): void
  /** The user clicked a notification's text or one of its buttons. */
  answer(id: string, action: string | undefined): void
  dismiss(id: string): void
  /** Shows a notice of Berth's own; `answered` handles a click on it, which otherwise shows Activity. */
  say(notice: Notice, answered?: (action: string | undefined) => void): void
  /** The same for one that stays on the page until it is dismissed, also after a restart. */
  keep(notice: Notice, account: AccountId | undefined): void
  /** The user connected to an instance, so alerts that it is ready are withdrawn. */
  entered(account: AccountId, instance: number): void
  /** An instance is seen to be destroyed, so alerts of what it will do or cost are withdrawn. */
  gone(account: AccountId, instance: number): void
  /** A page's current view; without a place, the page is closed. */
  pageIsAt(page: object, place?: PagePlace): void
  /** Withdraws an alert whose cause is over. */
  withdraw(id: string): void
  /** Withdraws all alerts of an account that Berth no longer has. */
  withdrawAccount(account: AccountId): Promise<void>
  /** Sets who else hears of alerts, of each group once: whatever the settings and before the user. */
  onTold(listener: (account: AccountId, alerts: readonly Alert[]) => void): void
  /** Sets how the buttons with a command run it. */
  onCommand(give: GiveCommand): void
  /** Sets how the buttons with an action on an instance do it. */
  onAct(act: (on: { account: AccountId; instance: number }, action: UndoableAction) => Promise<void>): void
  /**
   * Withdraws the alerts that a poll shows to be over: an instance that is gone or in another state, credit that has
   * recovered. An alert that is still on the page is updated.
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
  /** The alert behind each notification. Kept after it is closed, since some desktops let users click their history. */
  const shown = new Map<string, { account: AccountId; alert: Alert }>()
  /** Groups that were notified of, with the account and the kind of their alerts. */
  const groups = new Set<string>()
  const own = new Map<string, (action: string | undefined) => void>()
  const pages = new Map<object, PagePlace>()

  let passOn: Parameters<Notifications['onTold']>[0] = () => undefined
  let give: GiveCommand = async () => undefined
  let act: Parameters<Notifications['onAct']>[0] = async () => undefined

  /** The place of the click shows no errors, so a failure becomes a separate alert. */
  function alertFailure({ account, alert }: { account: AccountId; alert: Alert }, error: unknown): void {
    const { message, advice } = problemOf(error)
    tell(account, [
      {
        ...alert,
        id: `${alert.id}/failed`,
        title: `Failed: ${alert.title}`,
        body: advice === undefined ? message : `${message} ${advice}`,
        actions: [],
      },
    ])
  }

  /** Whether another alert of its group was notified of before; notes its group. */
  function isRepeated(account: AccountId, { oncePerGroup, group, kind }: Alert): boolean {
    if (!oncePerGroup || group === undefined) return false
    const key = `${account}/${kind}/${group}`
    if (groups.has(key)) return true
    groups.add(key)
    return false
  }

  /** A native notification names its account in the text; the page adds the name itself when it draws the notice. */
  function show(account: AccountId, alert: Alert): void {
    const body = `${accountPrefix(store.get().accounts, account)}${alert.body}`
    pageNotices.show(
      { ...alert, body },
      { account, kind: alert.kind, instance: alert.instance, body: alert.body },
    )
  }

  function tell(account: AccountId, alerts: readonly Alert[]): void {
    const passedOn: Alert[] = []
    for (const alert of alerts) {
      activity.add({
        account,
        kind: 'alert',
        ...(alert.good && { good: true }),
        text: alert.title,
        detail: alert.body,
        instance: alert.instance,
      })
      if (isRepeated(account, alert)) continue
      passedOn.push(alert)
      if (!store.get().settings.alerts[alert.kind]) continue
      shown.set(alert.id, { account, alert })
      if (!isBeforeUser(alert, account, store.get(), pages.values())) show(account, alert)
    }
    if (passedOn.length > 0) passOn(account, passedOn)
  }

  const notifications: Notifications = {
    tell,
    say(notice, answered) {
      if (answered) own.set(notice.id, answered)
      pageNotices.show(notice)
    },
    keep(notice, account) {
      own.set(notice.id, () => goTo(store, account, { screen: 'activity' }))
      pageNotices.keep(notice, account)
    },
    answer(id, action) {
      pageNotices.takeOff(id)
      const shownBefore = shown.get(id)
      if (!shownBefore) {
        const answered = own.get(id)
        if (answered) answered(action)
        else goWhereItWas(store, id)
        return
      }
      const { account, alert } = shownBefore
      const button = alert.actions.find(one => one.id === action)
      const doing =
        button?.act && alert.instance !== undefined
          ? act({ account, instance: alert.instance }, button.act)
          : button?.command && give(button.command.name, button.command.args)
      if (doing) {
        void doing.catch(error => alertFailure(shownBefore, error))
        return
      }
      const place = placeOf(alert, action)
      goTo(store, account, isGone(store.get().accounts[account], place) ? { screen: 'activity' } : place)
    },
    onPoll(account, alerted) {
      for (const [id, { account: of, alert }] of shown) {
        if (of !== account.id) continue
        if (!stillHolds(alert, account, alerted)) notifications.withdraw(id)
        else if (alert.kind === 'lowCredit' && pageNotices.isOnPage(id)) alertAgain(account, alert)
      }
    },
    entered(account, instance) {
      for (const [id, { account: of, alert }] of shown)
        if (of === account && alert.instance === instance && alert.state === 'running')
          notifications.withdraw(id)
    },
    gone(account, instance) {
      for (const [id, { account: of, alert }] of shown)
        if (of === account && alert.instance === instance && alert.untilGone) notifications.withdraw(id)
    },
    withdraw(id) {
      shown.delete(id)
      pageNotices.takeOff(id)
    },
    async withdrawAccount(account) {
      for (const [id, { account: of }] of shown) if (of === account) shown.delete(id)
      await pageNotices.takeOffAccount(account)
    },
    onTold(listener) {
      passOn = listener
    },
    onCommand(giveCommand) {
      give = giveCommand
    },
    onAct(doAct) {
      act = doAct
    },
    pageIsAt(page, place) {
      if (place) pages.set(page, place)
      else pages.delete(page)
      const unsaved = [...pages.values()].some(one => one.unsaved)
      if (unsaved === (store.get().app.unsaved ?? false)) return
      store.change(draft => {
        draft.app.unsaved = unsaved
      })
    },
    dismiss: id => pageNotices.takeOff(id),
  }

  /** An alert on the page shows present values, not those of its first showing. */
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

/** A click on a notice without a handler, also on one the desktop kept from an earlier run: its id holds the place. */
function goWhereItWas(store: Store, id: string): void {
  const [account = '', about = ''] = id.split('/')
  if (!Object.hasOwn(store.get().accounts, account)) {
    goTo(store, undefined, { screen: 'activity' })
    return
  }
  const instance = /^[1-9]\d{0,15}$/.test(about) ? Number(about) : undefined
  goTo(store, account, { screen: 'instances', instance })
}

const asks: Partial<Record<AlertButton['id'], 'bid' | 'replace'>> = {
  raise_bid: 'bid',
  move: 'replace',
}

/** The place that a button leads to, where the user is asked: a click on a notification never spends or destroys. */
function placeOf({ place, actions }: Alert, action: string | undefined): Place {
  const ask = actions.find(({ id }) => id === action)?.id
  if (ask === 'top_up') return { screen: 'account' }
  if (place.screen !== 'instances' || ask === undefined) return place
  if (ask === 'log') return { ...place, tab: 'logs' }
  const question = asks[ask]
  return question ? { ...place, ask: question } : place
}

/** Whether a place is about an instance that the account no longer has. */
function isGone(account: AccountView | undefined, place: Place): boolean {
  if (place.screen !== 'instances' || place.instance === undefined) return false
  return account !== undefined && !(place.instance in account.instances)
}

export type Teller = ReturnType<typeof tellerOf>

/** Tells the user of one account. */
export function tellerOf({
  account,
  activity,
  notifications,
}: {
  account: AccountId
  activity: Activity
  notifications: Notifications
}) {
  return {
    /** A line in Activity alone. */
    note: (
      kind: 'user' | 'alert' | 'berth' | 'error',
      text: string,
      detail?: string,
      instance?: number,
    ): void => activity.add({ account, kind, text, detail: detail || undefined, instance }),
    alert: (alert: Alert): void => notifications.tell(account, [alert]),
    /** Withdraws an alert whose cause is over. */
    withdraw: (id: string): void => notifications.withdraw(id),
  }
}

/** Whether a page before the user already shows what an alert says. */
function isBeforeUser(
  { seenOn, instance: of }: Alert,
  account: AccountId,
  state: Pick<State, 'shown'>,
  pages: Iterable<PagePlace>,
): boolean {
  if (state.shown !== account) return false
  return [...pages].some(({ focused, isInFront, screen, instance }) => {
    if (!(isInFront?.() ?? focused) || screen !== seenOn) return false
    return screen === 'account' || instance === undefined || instance === of
  })
}

/** Sends one account's alerts and remembers which were sent. */
export async function openAccountAlerts(place: DocumentPlace, notifications: Notifications) {
  const document = await openDocument(place, 'told', v.nullable(AlertedState), null)
  return {
    /**
     * After a fresh poll of the account, at `at` (epoch seconds of its time); `isOwn`: whether this Berth made a mark.
     * Alerts are stored as sent before they are sent: after a kill, one is missed rather than repeated. They are sent
     * even where storing fails.
     */
    async onPoll(
      account: AccountView,
      settings: Settings,
      at: number,
      isOwn: (mark: string) => boolean,
    ): Promise<void> {
      const before = document.get()
      const { alerts, alerted } = alertsAfterPoll(before ?? undefined, account, settings, at, isOwn)
      if (!isDeepEqual(before, alerted)) await document.record(() => alerted)
      notifications.onPoll(account, alerted)
      if (alerts.length > 0) notifications.tell(account.id, alerts)
    },
    flush: document.flush,
  }
}
