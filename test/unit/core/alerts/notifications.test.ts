import { expect, test } from 'vitest'
import { alertOf, type EventName } from '#core/alerts/events.ts'
import { createNotifications } from '#core/alerts/notifications.ts'
import { createOutsideActions } from '#core/alerts/outside-actions.ts'
import { openPageNotices } from '#core/alerts/page-notices.ts'
import { type AlertedState, alertsAfterPoll } from '#core/alerts/poll-alerts.ts'
import { createStore } from '#core/storage/store.ts'
import type { Notice, NoticeClick, Notifier } from '#platform/platform.ts'
import { accountPrefix } from '#shared/derived.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { defaultSettings, type Settings } from '#shared/settings.ts'
import type { AccountView } from '#shared/state.ts'
import { noting } from '#test/berth/account-context.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { accountView, emptyState, instanceView, runView } from '#test/unit/views.ts'

/** Local time of this machine on some day, epoch milliseconds. */
const at = (hours: number, minutes: number) => new Date(2026, 4, 3, hours, minutes).getTime()

async function notificationsWith(
  available: boolean,
  given: Partial<Settings> = {},
  files = new MemoryFiles(),
) {
  const store = createStore({ ...emptyState(), settings: { ...defaultSettings, ...given } })
  const closed: string[] = []
  const shown: Notice[] = []
  let click: NoticeClick = () => undefined
  const notifier: Notifier = {
    available,
    show: async notice => void shown.push(notice),
    close: async id => void closed.push(id),
    onClick: listener => {
      click = listener
    },
  }
  const { said: written, activity } = noting()
  const clock = new HandClock(at(12, 0))
  const pageNotices = await openPageNotices({ store, clock, notifier, files, onBroken: () => undefined })
  const notifications = createNotifications({ store, activity, notifier, pageNotices })
  let before: AlertedState | undefined
  /** A poll. Gives the notices’ ids. */
  function poll(account: ReturnType<typeof accountView>): string[] {
    if (!(account.id in store.get().accounts))
      store.change(draft => {
        draft.accounts[account.id] = account
        draft.shown = account.id
      })
    const { alerts: found, alerted } = alertsAfterPoll(before, account, store.get().settings, 1000)
    before = alerted
    notifications.onPoll(account, alerted)
    notifications.tell(account.id, found)
    return Object.keys(store.get().notices)
  }
  return {
    poll,
    written,
    closed,
    store,
    notifications,
    clock,
    shown,
    pageNotices,
    files,
    click: (id: string, action?: string) => click(id, action),
  }
}

const withState = (word: InstanceState) =>
  accountView({ credit: 900_000_000 }, instanceView({ state: word, actualStatus: word }))

const rich = { credit: 900_000_000 }
test.each<[string, AccountView, AccountView]>([
  ['its instance changes state', withState('outbid'), withState('running')],
  ['its instance is gone', withState('crashed'), accountView(rich)],
  ['there is credit again', accountView({ credit: 1_000_000 }), accountView(rich)],
])('a notice goes once %s, and the desktop closes it', async (_, before, after) => {
  const { poll, closed } = await notificationsWith(false)
  expect(poll(before)).toHaveLength(1)
  expect(poll(after)).toEqual([])
  expect(closed).toHaveLength(1)
})

test('once an instance is destroyed, no notice says what it will do or cost, and what has happened stays', async () => {
  const { notifications, store, closed } = await notificationsWith(false)
  const told = (event: EventName, instance: number) =>
    alertOf(event, { id: `a/${event}/${instance}`, instance, title: event, body: '' })
  const over: EventName[] = ['limitDue', 'limitHeld', 'limitBlind', 'machineKept']
  notifications.tell('a', [
    ...over.map(event => told(event, 7)),
    told('runFailed', 7),
    told('limitDone', 7),
    told('machineKept', 8),
  ])
  notifications.gone('a', 7)
  expect(Object.keys(store.get().notices)).toEqual(['a/runFailed/7', 'a/limitDone/7', 'a/machineKept/8'])
  expect(closed).toHaveLength(over.length)
})

test('of machines rented together only the first is notified of as ready, and Activity has each', async () => {
  const { notifications, store, written } = await notificationsWith(false)
  const ready = (instance: number, group?: string) =>
    alertOf('rentalReady', {
      id: `a/rental/${instance}`,
      instance,
      group,
      title: `#${instance} is ready`,
      body: '',
    })
  notifications.tell('a', [ready(1, 'g'), ready(2, 'g')])
  notifications.withdraw('a/rental/1')
  notifications.tell('a', [ready(3, 'g'), ready(4, 'h'), ready(5), ready(6)])
  expect(Object.keys(store.get().notices)).toEqual(['a/rental/4', 'a/rental/5', 'a/rental/6'])
  expect(written).toHaveLength(6)
  notifications.tell('b', [ready(7, 'g')])
  expect(Object.keys(store.get().notices)).toContain('a/rental/7')
})

test('a kind switched off goes only to Activity, and is not shown once switched on', async () => {
  const { poll, store, written } = await notificationsWith(false, {
    alerts: { ...defaultSettings.alerts, outbid: false },
  })
  expect(poll(withState('outbid'))).toEqual([])
  expect(written).toEqual(['Instance #4711 was outbid'])
  store.change(draft => {
    draft.settings.alerts.outbid = true
  })
  expect(poll(withState('outbid'))).toEqual([])
  expect(written).toHaveLength(1)
})

test('a full-disk notice goes once there is room, and stays beside one of the state', async () => {
  const { poll } = await notificationsWith(false)
  const using = (used: number, state: InstanceState = 'running') =>
    accountView({ credit: 900_000_000 }, instanceView({ state, disk: { size: 100, used } }))
  expect(poll(using(95))).toHaveLength(1)
  expect(poll(using(95, 'crashed'))).toHaveLength(2)
  expect(poll(using(80, 'crashed'))).toHaveLength(1)
})

test.each([
  ['alone', [], false, false],
  ['beside the demo', ['demo'], false, false],
  ['beside another', ['a00000002'], false, true],
  ['that is the demo beside another', ['a00000002'], true, true],
  ['that is the demo alone', [], true, false],
] as const)(
  'a notice of an account %s names the account only if it is ambiguous',
  async (_, others, demo, named) => {
    const { poll, store } = await notificationsWith(false)
    const account = { ...withState('outbid'), demo }
    store.change(draft => {
      draft.accounts[account.id] = account
      for (const id of others) draft.accounts[id] = accountView({ id, name: 'Other', demo: id === 'demo' })
    })
    poll(account)
    const [notice] = Object.values(store.get().notices)
    expect(notice?.body).not.toContain('Lab: ')
    expect(accountPrefix(store.get().accounts, notice?.account ?? '')).toBe(named ? 'Lab: ' : '')
  },
)

test('beside a real account the demo is named in notifications', async () => {
  const native = await notificationsWith(true)
  native.store.change(draft => {
    draft.accounts['a00000002'] = accountView({ id: 'a00000002', name: 'Real' })
  })
  native.poll({ ...withState('outbid'), demo: true })
  expect(native.shown[0]?.body).toMatch(/^Lab: /)
})

test('a low-credit notice on the page shows the current credit', async () => {
  const { poll, store } = await notificationsWith(false)
  poll(accountView({ credit: 3_000_000 }))
  poll(accountView({ credit: 2_000_000 }))
  expect(Object.values(store.get().notices).map(({ title }) => title)).toEqual(['$2.00 of credit left'])
})

test('a ready notice goes once the terminal was opened', async () => {
  const { poll, notifications } = await notificationsWith(false)
  poll(withState('loading'))
  expect(poll(withState('running'))).toHaveLength(1)
  notifications.entered('a00000001', 4711)
  expect(poll(withState('running'))).toEqual([])
})

test('an answered notification is closed on the desktop', async () => {
  const { poll, closed, click } = await notificationsWith(true)
  poll(withState('outbid'))
  click('a00000001/4711', 'raise_bid')
  expect(closed).toEqual(['a00000001/4711'])
})

test('a click on a notification of an earlier start opens its instance or Activity', async () => {
  const { poll, click, store } = await notificationsWith(true)
  poll(withState('running'))
  click('a00000001/4711')
  expect(store.get().goTo?.place).toEqual({ screen: 'instances', instance: 4711 })
  click('a00000009/4711')
  expect(store.get().goTo?.place).toEqual({ screen: 'activity' })
})

test('a click on a notification about an instance that is gone opens Activity', async () => {
  const { poll, click, store } = await notificationsWith(true)
  const account = withState('outbid')
  poll(account)
  store.change(draft => {
    draft.accounts[account.id] = accountView(rich)
  })
  click('a00000001/4711')
  expect(store.get().goTo?.place).toEqual({ screen: 'activity' })
})

/** A notification that an instance is ready, with the commands that its buttons give. */
async function ready(account: Partial<AccountView> = {}) {
  const parts = await notificationsWith(true)
  const { notifications, store, clock, poll } = parts
  const given: unknown[] = []
  let sent: () => void = () => undefined
  const give = async (name: string, args: unknown) => {
    given.push([name, args])
    if (name === 'actSoon')
      await new Promise<void>(resolve => {
        sent = resolve
      })
  }
  notifications.onAct(createOutsideActions({ store, clock, notifications, give }).askOrAct)
  const running = instanceView()
  poll(accountView(rich, { ...running, state: 'loading' }))
  poll(accountView({ ...rich, ...account }, running))
  store.change(draft => {
    draft.accounts['a00000001'] = accountView({ ...rich, ...account }, running)
  })
  return { ...parts, given, sent: () => sent() }
}
const on = { account: 'a00000001', instance: 4711 }

test('a stop from a notification can be undone in a notice until it is sent', async () => {
  const { click, given, shown, store, closed, sent } = await ready()
  click('a00000001/4711', 'stop')
  expect(given).toEqual([['actSoon', { ...on, action: 'stop' }]])
  expect(store.get().goTo).toBeUndefined()
  const notice = shown.at(-1)
  expect(notice).toMatchObject({ title: 'Stopping Instance #4711', actions: [{ id: 'undo' }] })
  click(notice?.id ?? '', 'undo')
  expect(given.at(-1)).toEqual(['undoAction', on])
  sent()
  await expect.poll(() => closed).toContain(notice?.id)
  await expect.poll(() => shown.at(-1)?.title).toBe('Instance #4711 keeps running')
})

test('a stop from a notification that would end a run is asked about on the page', async () => {
  const { click, given, store } = await ready({ runs: { one: runView({ instance: 4711 }) } })
  click('a00000001/4711', 'stop')
  expect(given).toEqual([])
  expect(store.get().goTo?.place).toEqual({ screen: 'instances', instance: 4711, ask: 'stop' })
})

test('the top-up button of a low-credit notification opens the account screen', async () => {
  const { poll, click, store } = await notificationsWith(true)
  poll(accountView({ credit: 1_000_000 }))
  click('a00000001/credit', 'top_up')
  expect(store.get().goTo?.place).toEqual({ screen: 'account' })
})

const here = (focused: boolean, screen: string, instance?: number) => ({ focused, screen, instance })
/** The list in a window that knows whether it is before the user, whatever the page believes. */
const inWindow = (isInFront: boolean) => ({ ...here(!isInFront, 'instances'), isInFront: () => isInFront })

test.each([
  ['the list, before the user', here(true, 'instances'), 0],
  ['that very instance', here(true, 'instances', 4711), 0],
  ['another instance', here(true, 'instances', 4712), 1],
  ['the list, behind another window', here(false, 'instances'), 1],
  ['another screen', here(true, 'offers'), 1],
  ['the list, in a window that is hidden', inWindow(false), 1],
  ['the list, in a window that is in front', inWindow(true), 0],
])('while a page shows %s, an outbid notification is shown or not, case %#', async (_, place, times) => {
  const { poll, notifications, shown } = await notificationsWith(true)
  poll(withState('running'))
  notifications.pageIsAt({}, place)
  poll(withState('outbid'))
  expect(shown).toHaveLength(times)
})

test('State tells of unsaved text until the last page that has some is saved or closed', async () => {
  const { notifications, store } = await notificationsWith(true)
  const [one, other] = [{}, {}]
  const unsaved = { ...here(false, 'instances'), unsaved: true }
  notifications.pageIsAt(one, unsaved)
  notifications.pageIsAt(other, unsaved)
  notifications.pageIsAt(one, here(false, 'instances'))
  expect(store.get().app.unsaved).toBe(true)
  notifications.pageIsAt(other)
  expect(store.get().app.unsaved).toBe(false)
})

test('a closed page, or one that shows another account, suppresses no notification', async () => {
  const { poll, notifications, shown, store } = await notificationsWith(true)
  poll(withState('running'))
  const page = {}
  notifications.pageIsAt(page, here(true, 'instances'))
  store.change(draft => {
    draft.shown = 'a00000002'
  })
  poll(withState('outbid'))
  expect(shown).toHaveLength(1)
  store.change(draft => {
    draft.shown = 'a00000001'
  })
  notifications.pageIsAt(page)
  poll(withState('crashed'))
  expect(shown).toHaveLength(2)
})

const night = { on: true, from: '22:00', to: '07:00', critical: false }

test('quiet hours show nothing, and end with one notice of current alerts', async () => {
  const files = new MemoryFiles()
  const first = await notificationsWith(true, { quietHours: night }, files)
  first.clock.wall = at(23, 0)
  const crashed = instanceView({ id: 2, state: 'crashed', label: 'b' })
  // The first alert ends before it is shown.
  for (const state of ['outbid', 'running'] as const)
    first.poll(accountView({ credit: 900_000_000 }, instanceView({ state, label: 'a' }), crashed))
  expect(first.shown).toEqual([])
  await first.pageNotices.close()

  const second = await notificationsWith(true, { quietHours: night }, files)
  second.clock.wall = at(6, 59)
  await second.clock.pass(30_000)
  expect(second.shown).toEqual([])
  await second.clock.pass(60_000)
  expect(second.shown).toMatchObject([{ title: 'One alert during quiet hours', body: 'b #2 crashed.' }])
  await second.clock.pass(600_000)
  expect(second.shown).toHaveLength(1)
})

test('critical alerts are shown in the quiet hours if the user wants that', async () => {
  const { poll, shown, clock } = await notificationsWith(true, { quietHours: { ...night, critical: true } })
  clock.wall = at(3, 0)
  poll(withState('outbid'))
  expect(shown).toHaveLength(1)
})

test('the demo’s withheld alerts are not written to disk', async () => {
  const { poll, files, pageNotices, clock } = await notificationsWith(true, { quietHours: night })
  clock.wall = at(3, 0)
  poll({ ...withState('outbid'), id: 'demo', demo: true })
  await pageNotices.close()
  expect(await files.read('withheld.json')).toBeUndefined()
})

test.each([true, false])('an account that is gone takes its notices along (desktop: %s)', async available => {
  const quietHours = { ...defaultSettings.quietHours, on: true, from: '13:00', to: '14:00' }
  const { poll, notifications, pageNotices, store, closed, shown, clock, files } = await notificationsWith(
    available,
    { quietHours },
  )
  poll({
    ...accountView({ credit: 900_000_000 }, instanceView({ state: 'running' })),
    id: 'demo',
    demo: true,
  })
  const outbid = { ...withState('outbid'), id: 'demo', demo: true }
  poll(outbid)
  notifications.keep({ id: 'lost-file', title: 'A file', body: '', urgency: 'normal', actions: [] }, 'demo')
  notifications.say({ id: 'freeze', title: 'Slept', body: '', urgency: 'normal', actions: [] })
  await clock.pass(at(13, 10) - clock.now())
  notifications.tell('demo', [
    alertOf('running', { id: 'demo/9/running', instance: 9, title: 'Waits', body: '' }),
  ])
  expect(available ? shown.length : Object.keys(store.get().notices).length).toBeGreaterThan(2)
  await notifications.withdrawAccount('demo')
  expect(Object.keys(store.get().notices)).toEqual(available ? [] : ['freeze'])
  if (available)
    expect(new Set(closed)).toEqual(
      new Set([...shown.map(({ id }) => id).filter(id => id !== 'freeze'), 'demo/9/running']),
    )
  await clock.pass(at(14, 30) - clock.now())
  expect(shown.map(({ id }) => id)).not.toContain('quiet-hours')
  await pageNotices.close()
  expect([...files.texts.values()].join()).not.toMatch(/Waits|A file/)
})
