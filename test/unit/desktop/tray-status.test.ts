import { expect, test } from 'vitest'
import { traySize, trayStatus, trayTone } from '#desktop/tray/tray-status.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, emptyState, instanceView, rentalView, stateWith } from '../views.ts'

const problem = { code: 'x', message: 'x' }
const offline = { connection: { status: 'offline', problem } } as const
test.each<[string, string, AccountView[]]>([
  ['nothing runs', 'calm', [accountView()]],
  ['no account', 'calm', []],
  ['one is stopped', 'calm', [accountView({}, instanceView({ state: 'stopped' }))]],
  ['one runs', 'working', [accountView({}, instanceView())]],
  ['one is frozen', 'working', [accountView({}, instanceView({ state: 'frozen' }))]],
  ['one is being rented', 'working', [accountView({ rentals: { r: rentalView() } })]],
  ['one was outbid', 'attention', [accountView({}, instanceView({ state: 'outbid' }))]],
  ['a rental is late', 'attention', [accountView({ rentals: { r: rentalView({ step: 'late' }) } })]],
  ['the key was refused', 'attention', [accountView({ connection: { status: 'refused', problem } })]],
  ['credit is low', 'attention', [accountView({ credit: 1_000_000 })]],
  ['it cannot be reached', 'offline', [accountView(offline, instanceView())]],
  [
    'another account cannot be reached',
    'offline',
    [accountView({}, instanceView()), accountView({ ...offline, id: 'a00000002' })],
  ],
  [
    'what was last known needs the user',
    'attention',
    [accountView(offline, instanceView({ state: 'crashed' }))],
  ],
])('when %s the icon is that of %s', (_, icon, accounts) => {
  expect(trayStatus(stateWith(...accounts)).state).toBe(icon)
})

test('the tooltip says why an account is unreachable and since when', () => {
  const since = new Date(2026, 4, 3, 14, 2).getTime() / 1000
  const connection = { status: 'offline', problem: { code: 'offline', message: 'x' }, since } as const
  expect(trayStatus(stateWith(accountView({ connection }, instanceView()))).tooltip).toBe(
    'Berth: 1 running, $0.400/h\nLab: Service can’t be reached, as of 14:02',
  )
})

test('a pause shows the offline icon and its end in the tooltip', () => {
  const pausedUntil = new Date(2026, 4, 3, 15, 4).getTime()
  const status = trayStatus({ ...stateWith(accountView({}, instanceView())), pausedUntil })
  expect(status).toMatchObject({
    state: 'offline',
    tooltip: 'Berth: 1 running, $0.400/h\nPaused until 15:04',
  })
})

test('the tooltip shows running instances, spending of all accounts, and urgent items', () => {
  const one = accountView({}, instanceView(), instanceView({ id: 2, state: 'stopped', costPerHour: 6_000 }))
  const two = accountView({ id: 'a00000002' }, instanceView({ id: 3 }))
  expect(trayStatus(stateWith(one, two)).tooltip).toBe('Berth: 2 running, $0.806/h')
  expect(trayStatus(emptyState()).tooltip).toBe('Berth: nothing running, $0.000/h')
  const worse = accountView(
    {},
    instanceView({ id: 7, state: 'outbid', label: 'train' }),
    instanceView({ id: 8, state: 'crashed' }),
  )
  expect(trayStatus(stateWith(worse)).tooltip.split('\n')[1]).toBe('train #7: Outbid, and 1 more')
  const long = accountView({}, instanceView({ label: 'x'.repeat(500), state: 'crashed' }))
  expect(trayStatus(stateWith(long)).tooltip.length).toBeLessThanOrEqual(120)
})

test('the title is short, and empty while nothing costs', () => {
  expect(trayStatus(stateWith(accountView({}, instanceView()))).title).toBe('1 · $0.400/h')
  expect(trayStatus(stateWith(accountView())).title).toBe('')
})

test.each([
  ['darwin', undefined, true, 'template', 16],
  ['win32', undefined, false, 'dark', 16],
  ['win32', undefined, true, 'light', 16],
  ['linux', 'ubuntu:GNOME', false, 'light', 24],
  ['linux', 'KDE', false, 'dark', 22],
  ['linux', 'XFCE', true, 'light', 24],
] as const)(
  'on %s (%s, dark: %s) the picture is the %s one of %i points',
  (platform, desktop, dark, tone, size) => {
    expect(trayTone({ platform, desktop, dark })).toBe(tone)
    expect(traySize({ platform, desktop, dark })).toBe(size)
  },
)
