import { expect, test } from 'vitest'
import { trayMenu } from '#desktop/tray/tray-menu.ts'
import { type MenuItemModel, menuShape } from '#desktop/tray/tray-words.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import type { AccountView } from '#shared/state.ts'
import {
  accountView,
  emptyState,
  instanceView,
  limitView,
  pastRental,
  rentalView,
  stateWith,
} from '../views.ts'

const menuOf = (state = emptyState(), now = 0) => trayMenu(state, now)

const labels = (items: readonly MenuItemModel[]) =>
  items.map(item => ('separator' in item ? '---' : item.label))

function entry(items: readonly MenuItemModel[], begin: string) {
  const found = items.find(item => 'label' in item && item.label.startsWith(begin))
  if (found === undefined || 'separator' in found)
    throw new Error(`no ${begin} in ${labels(items).join(', ')}`)
  return found
}

const ssh = { direct: { host: '192.0.2.1', port: 22 } }

test('used up credit says so, and old credit since when it is known', () => {
  const words = (given: Partial<AccountView>) =>
    labels(menuOf(stateWith(accountView(given, instanceView({ label: 'llama', ssh })))))[0]
  expect(words({ credit: -7_430_000 })).toBe('Credit −$7.43, used up')
  expect(words({ creditAt: 1_790_000_000 })).toMatch(/^Credit \$50\.00 as of \d\d:\d\d, lasts 5 d$/)
})

test('the menu starts with credit and spending, and ends with Rent, Open and Quit', () => {
  const account = accountView({}, instanceView({ label: 'llama', ssh }))
  const menu = labels(menuOf(stateWith(account)))
  expect(menu.slice(0, 3)).toEqual(['Credit $50.00, lasts 5 d', '1 running, $0.400/h', '---'])
  expect(menu.slice(3, 6)).toEqual(['llama #4711: Running, $0.400/h', '---', 'Stop everything…'])
  expect(menu.slice(6)).toEqual(['Rent a GPU…', '---', 'Pause Berth for 1 h', 'Open Berth', 'Quit Berth…'])
})

test('pausing asks first where limits are waiting, since none acts during a pause', () => {
  const limit: LimitView = limitView({
    when: { kind: 'credit', hours: 6 },
    sentence: 'Stops the cheapest instance.',
  })
  const pause = (step: LimitView['step']) =>
    entry(menuOf(stateWith(accountView({ limits: { one: { ...limit, step } } }))), 'Pause')
  const question = { kind: 'go', place: { screen: 'here', ask: 'pause' } }
  expect(pause('waiting')).toEqual({ label: 'Pause Berth for 1 h…', action: question })
  expect(pause('done')).toHaveProperty('action.name', 'pausePolling')
})

test('without instances or accounts the menu still opens and quits Berth', () => {
  expect(labels(menuOf(emptyState()))).toEqual(['No account yet', '---', '---', 'Open Berth', 'Quit Berth'])
  expect(labels(menuOf(stateWith(accountView())))).toContain('Rent a GPU…')
})

test('a running instance has Terminal, Jupyter, Editor, SSH, Stop and Destroy… of its own', () => {
  const account = accountView({}, instanceView({ id: 7, ssh }), instanceView({ id: 8, ssh }))
  const { submenu = [] } = entry(menuOf(stateWith(account)), 'Instance #7')
  expect(labels(submenu).join(' ')).toBe(
    'Terminal Jupyter Editor Files Ports Copy SSH command --- Stop Set a limit… Show --- Destroy…',
  )
  expect(entry(submenu, 'Ports').action).toMatchObject({ kind: 'go', place: { instance: 7, tab: 'ports' } })
  expect(entry(submenu, 'Set a limit…').action).toMatchObject({ kind: 'go', place: { ask: 'limit' } })
  const args = { account: account.id, instance: 7 }
  expect(entry(submenu, 'Jupyter').action).toMatchObject({ kind: 'command', name: 'openJupyter', args })
  expect(entry(submenu, 'Editor').action).toMatchObject({ kind: 'command', name: 'openEditor', args })
  expect(entry(submenu, 'Copy').action).toMatchObject({ kind: 'copy', name: 'sshCommand', args })
  expect(entry(submenu, 'Terminal').action).toEqual({
    kind: 'go',
    account: account.id,
    place: { screen: 'instances', instance: 7, tab: 'terminal' },
  })
  expect(entry(submenu, 'Stop').action).toMatchObject({ kind: 'act', action: 'stop', ...args })
  expect(entry(submenu, 'Destroy…').action).toMatchObject({ kind: 'go', place: { ask: 'destroy' } })
})

test.each<[InstanceState, string | undefined]>([
  ['running', 'Stop'],
  ['loading', 'Stop'],
  ['provisioning', 'Stop'],
  ['stopped', 'Start'],
  ['ended', 'Start'],
  ['outbid', 'Raise bid…'],
  ['stopping', undefined],
  ['crashed', 'Restart'],
  ['offline', undefined],
  // Whatever is billed for its GPUs can be stopped.
  ['frozen', 'Stop'],
  ['silent', 'Stop'],
  ['other', 'Stop'],
])('%s offers %s', (state, power) => {
  const account = accountView({}, instanceView({ state, actualStatus: state }))
  const { submenu = [] } = entry(menuOf(stateWith(account)), 'Instance')
  const offered = labels(submenu).filter(label => ['Stop', 'Start', 'Restart', 'Raise bid…'].includes(label))
  expect(offered).toEqual(power === undefined ? [] : [power])
})

test('a crashed instance has log, restart and another machine before Destroy…', () => {
  const account = accountView({}, instanceView({ state: 'crashed' }))
  const { submenu = [] } = entry(menuOf(stateWith(account)), 'Instance')
  expect(labels(submenu).join(' ')).toBe('Log Restart Move to another machine… Show --- Destroy…')
})

test('an action that is not sent yet can be undone, at the top and in its entry', () => {
  const undoable = { 4711: { action: 'stop', sendAt: 5000 } } as const
  const menu = menuOf(stateWith(accountView({ undoable }, instanceView({ label: 'box' }))))
  const undo = {
    label: 'Undo the stop of box #4711',
    action: expect.objectContaining({ name: 'undoAction', args: { account: 'a00000001', instance: 4711 } }),
  }
  expect(menu[2]).toEqual(undo)
  expect(entry(menu, 'box').submenu?.[0]).toEqual(undo)
})

test('instances at rest come after the others, which begin with the newest', () => {
  const stopped = instanceView({ id: 9, state: 'stopped' })
  const account = accountView({}, instanceView({ id: 7 }), instanceView({ id: 8, state: 'outbid' }), stopped)
  const shown = labels(menuOf(stateWith(account))).filter(label => label.startsWith('Instance'))
  expect(shown.map(label => label.replace(/:.*/, ''))).toEqual(['Instance #8', 'Instance #7', 'Instance #9'])
})

test('a stopped instance with a low bid offers to raise it', () => {
  const bids = { interruptible: true, bid: 400_000, minimumBid: 900_000 }
  const offered = (more: Partial<InstanceView>) => {
    const account = accountView({}, instanceView({ state: 'stopped', ...bids, ...more }))
    return labels(entry(menuOf(stateWith(account)), 'Instance').submenu ?? [])[0]
  }
  expect(offered({})).toBe('Raise bid…')
  expect(offered({ bid: 900_000 })).toBe('Start')
})

test.each<InstanceState>(['stopped', 'outbid'])('%s offers nothing once its contract has ended', state => {
  const account = accountView({}, instanceView({ state, endsAt: 1000 }))
  const offered = (now: number) => labels(entry(menuOf(stateWith(account), now), 'Instance').submenu ?? [])
  expect(offered(999_000)).toHaveLength(4)
  expect(offered(1_000_000)).toEqual(['Show', '---', 'Destroy…'])
})

test('an instance billed for its GPUs counts as running', () => {
  const states = ['frozen', 'other', 'restarting', 'stopped', 'stopping', 'waiting'] as const
  const account = accountView({}, ...states.map((state, id) => instanceView({ id, state })))
  expect(labels(menuOf(stateWith(account)))[1]).toMatch(/^3 running, /)
})

test('a booting instance shows its price once ready', () => {
  const booting = instanceView({
    label: 'llama',
    state: 'loading',
    costPerHour: 7000,
    pricePerHour: 2_528_000,
  })
  const told = labels(menuOf(stateWith(accountView({}, booting))))
  expect(told[1]).toBe('Nothing running, now $0.007/h, $2.528/h once ready')
  expect(told[3]).toMatch(/^llama #4711: Loading.*, now \$0\.007\/h, \$2\.528\/h once ready$/)
})

test('an instance without an address offers no connections', () => {
  const account = accountView({}, instanceView({ state: 'running' }))
  const offered = labels(entry(menuOf(stateWith(account)), 'Instance').submenu ?? [])
  expect(offered).toEqual(['Stop', 'Set a limit…', 'Show', '---', 'Destroy…'])
})

test('other accounts are listed by name while they have instances', () => {
  const other = accountView({ id: 'a00000002', name: 'Company' }, instanceView({ id: 9, label: 'training' }))
  const idle = accountView({ id: 'a00000003', name: 'Idle' })
  const menu = menuOf(stateWith(accountView(), other, idle))
  expect(labels(menu)).toEqual(expect.arrayContaining(['Company', 'training #9: Running, $0.400/h']))
  expect(labels(menu)).not.toContain('Idle')
  expect(entry(entry(menu, 'training').submenu ?? [], 'Stop').action).toMatchObject({
    account: 'a00000002',
  })
})

test('a label from outside stays one short line without control characters', () => {
  const label = `evil\n\u202e${'x'.repeat(300)}\u0000`
  const account = accountView({}, instanceView({ label }))
  const [line = ''] = labels(menuOf(stateWith(account))).filter(text => text.startsWith('evil'))
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(line.length).toBeLessThan(80)
})

test('a menu of many instances ends with an entry for the rest', () => {
  const many = Array.from({ length: 40 }, (_, at) => instanceView({ id: at + 1 }))
  const menu = menuOf(stateWith(accountView({}, ...many)))
  expect(menu.length).toBeLessThan(28)
  expect(labels(menu)).toContain('25 more…')
})

test('a poll that changes figures alone gives a menu of the same shape', () => {
  const view = (gpuLoad: number, given = {}) =>
    stateWith(accountView({ credit: 50_000_000, ...given }, instanceView({ gpuLoad })))
  expect(menuOf(view(90, { credit: 49_999_000 }))).toEqual(menuOf(view(91)))
  const shape = menuShape(trayMenu(view(10), 0, 1_000_000))
  expect(menuShape(trayMenu(view(90, { credit: 31_000_000 }), 0, 2_340_000))).toBe(shape)
  // Another state, or another machine in its place, is no figure.
  expect(menuShape(trayMenu(view(1), 0, 1_000_000))).not.toBe(shape)
  const other = stateWith(accountView({ credit: 50_000_000 }, instanceView({ id: 4712, gpuLoad: 10 })))
  expect(menuShape(trayMenu(other, 0, 1_000_000))).not.toBe(shape)
})

test('a failed rental is not shown as under way', () => {
  const rentals = { r1: rentalView({ id: 'r1' }), r2: rentalView({ id: 'r2', step: 'failed' }) }
  const found = labels(menuOf(stateWith(accountView({ rentals }))))
  expect(found.filter(label => label.includes('A100'))).toEqual([
    'Renting A100 SXM…',
    'Could not rent A100 SXM',
  ])
})

test('the last rental is offered again by name, as a filled-in dialog', () => {
  const account = accountView({ pastRentals: [pastRental('llama-finetune')] })
  expect(entry(menuOf(stateWith(account)), 'Rent llama-finetune again…').action).toEqual({
    kind: 'go',
    account: account.id,
    place: { screen: 'offers', again: 'r0123456789abcdef' },
  })
})

test('saved searches are listed by name, only where there are any', () => {
  const query = {
    query: { type: 'bid', verifiedOnly: true, storage: 20, limit: 100 },
    filter: { priceTo: 2 },
  } as const
  const state = stateWith(accountView())
  const saved = { s2: { id: 's2', name: 'H200', query }, s1: { id: 's1', name: 'A100', query } }
  const { submenu = [] } = entry(menuOf({ ...state, savedSearches: saved }), 'Saved searches')
  expect(labels(submenu)).toEqual(['A100', 'H200'])
  expect(entry(submenu, 'H200').action).toMatchObject({ place: { screen: 'offers', search: query } })
  expect(labels(menuOf(state))).not.toContain('Saved searches')
})

test('polling can be paused, then shows until when and can be resumed', () => {
  const state = stateWith(accountView())
  expect(entry(menuOf(state), 'Pause').action).toMatchObject({
    name: 'pausePolling',
    args: { minutes: 60 },
  })
  const until = new Date(2026, 4, 3, 15, 4).getTime()
  const paused = menuOf({ ...state, pausedUntil: until })
  expect(labels(paused)).toContain('Monitoring is paused until 15:04')
  expect(entry(paused, 'Resume Berth').action).toMatchObject({ name: 'resumePolling' })
})

test('the demo’s events are commands, and only the demo has them', () => {
  const demo = accountView({ id: 'demo', demo: true })
  const { submenu = [] } = entry(menuOf(stateWith(demo)), 'Simulate an event')
  expect(submenu).toHaveLength(6)
  expect(entry(submenu, 'An hour passes').action).toMatchObject({
    kind: 'command',
    name: 'demoEvent',
    args: { event: 'hour_passes' },
  })
  expect(labels(menuOf(stateWith(accountView())))).not.toContain('Simulate an event')
})

test('an unreachable account shows why and since when', () => {
  const since = new Date(2026, 4, 3, 14, 2).getTime() / 1000
  const problem = { code: 'server_error', message: 'x' }
  const told = (connection: AccountView['connection']) =>
    labels(menuOf(stateWith(accountView({ connection })))).at(2)
  expect(told({ status: 'offline', problem, answered: 500, since })).toBe(
    'Service is failing (500), as of 14:02',
  )
  expect(told({ status: 'refused', problem, since })).toBe('The API key was refused, as of 14:02')
  expect(told({ status: 'connecting' })).toBe('Connecting…')
})

test('a machine says its load and when it stops, which its menu extends', () => {
  const limit = limitView({ id: 'one', instance: 7, dueAt: 1_790_000_000 })
  const box = (gpuLoad: number) => instanceView({ id: 7, label: 'box', ssh, gpuLoad })
  const menu = (gpuLoad: number) => menuOf(stateWith(accountView({ limits: { one: limit } }, box(gpuLoad))))
  const machine = entry(menu(93.7), 'box')
  expect(machine.label).toMatch(/^box #7: Running, \$0\.400\/h, GPU 90%, stops \w+ \d\d:\d\d$/)
  expect(entry(machine.submenu ?? [], 'Extend 1 h').action).toMatchObject({
    kind: 'command',
    name: 'snoozeLimit',
    args: { account: accountView().id, limit: 'one', minutes: 60 },
  })
  expect(entry(menu(0), 'box').label).toContain(', idle, stops')
  // The menu isn't replaced, and so closed, by every reading.
  expect(entry(menu(91), 'box').label).toBe(machine.label)
})

test('the menu says what was spent today, and the last alerts with a way to each', () => {
  const account = accountView({}, instanceView({ id: 7, label: 'box' }))
  const note = (id: string, given: object) => ({
    id,
    at: 1_790_000_000_000,
    text: id,
    kind: 'alert' as const,
    ...given,
  })
  const activity = Object.fromEntries(
    [
      note('1', { account: account.id, instance: 7, text: 'box #7 was outbid' }),
      note('2', { kind: 'user', text: 'Started box' }),
      note('3', { account: 'gone', text: 'Of an account that is gone' }),
      note('4', { account: account.id, instance: 8, text: 'x'.repeat(200) }),
    ].map(one => [one.id, one]),
  )
  const menu = trayMenu({ ...stateWith(account), activity }, 0, 2_340_000)
  expect(labels(menu)[1]).toBe('1 running, $0.400/h, $2.34 today')
  const { submenu = [] } = entry(menu, 'Last notices')
  expect(labels(submenu)).toEqual([
    expect.stringMatching(/^\w+ \d\d:\d\d {2}x{50,}…$/),
    expect.stringMatching(/^\w+ \d\d:\d\d {2}box #7 was outbid$/),
    '---',
    'All activity',
  ])
  expect(submenu.map(item => ('action' in item ? item.action : undefined))).toMatchObject([
    { kind: 'go', place: { screen: 'activity' } },
    { kind: 'go', place: { screen: 'instances', instance: 7 } },
    undefined,
    { kind: 'go', place: { screen: 'activity' } },
  ])
})
