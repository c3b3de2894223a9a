import { expect, test } from 'vitest'
import { type AlertedState, alertsAfterPoll } from '#core/alerts/poll-alerts.ts'
import { announcements } from '#renderer/screens/instances/announcements.ts'
import { rowNoticeOf } from '#renderer/screens/instances/rowNotice.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { defaultSettings, type Settings } from '#shared/settings.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView, rentalView } from '#test/unit/views.ts'

const settings = { ...defaultSettings, lowCreditDollars: 5, lowCreditHours: 3 }
/** At a time that does not matter here. */
const alerts = (alerted: AlertedState | undefined, account: AccountView, by: Settings) =>
  alertsAfterPoll(alerted, account, by, 1000)
const dollars = (amount: number) => amount * 1_000_000

/** The alert of each poll in turn, or a dash; what was alerted goes through JSON, as in a restart. */
function said(...accounts: AccountView[]): string {
  let alerted: AlertedState | undefined
  const kinds = accounts.map(account => {
    const { alerts: found, alerted: after } = alerts(alerted, account, settings)
    alerted = JSON.parse(JSON.stringify(after)) as AlertedState
    return found.map(({ kind }) => kind).join() || '-'
  })
  return kinds.join(' ')
}

const withCredit = (amount: number) => accountView({ credit: dollars(amount) })
const withState = (state: InstanceState) => accountView({}, instanceView({ state, actualStatus: state }))

test('low credit is reported once, and again only after a clear recovery', () => {
  const credits = [10, 4.9, 4.5, 5.5, 4.9, 6.1, 4.9, 4.8]
  expect(said(...credits.map(withCredit))).toBe('- lowCredit - - - - lowCredit -')
})

test('credit that lasts too few hours is reported, with spending and time left', () => {
  const running = instanceView({ costPerHour: dollars(4) })
  const { alerts: found } = alerts(undefined, accountView({ credit: dollars(11) }, running), settings)
  expect(found).toMatchObject([{ kind: 'lowCredit', title: '$11.00 of credit left', urgency: 'critical' }])
  expect(found[0]?.body).toBe('At $4.000/h the credit lasts 2 h 45 min.')
  expect(alerts(undefined, accountView({ credit: dollars(13) }, running), settings).alerts).toEqual([])
})

test('negative credit is reported with its sign before the dollar', () => {
  const running = instanceView({ costPerHour: dollars(4) })
  const { alerts: found } = alerts(undefined, accountView({ credit: dollars(-7.43) }, running), settings)
  expect(found).toMatchObject([
    {
      title: 'No credit left: −$7.43',
      body: 'Your files may be deleted, and $4.000/h is still charged. Add credit, or destroy instances you don’t need.',
    },
  ])
})

test('credit that falls below zero while a disk is charged is reported once for each fall', () => {
  const disk = instanceView({ state: 'stopped', costPerHour: 10_000 })
  const withDisk = (amount: number) => accountView({ credit: dollars(amount) }, disk)
  const { credit: _, ...unknown } = withDisk(-3.4)
  const polls = [0.02, -3.4, -3.5].map(withDisk)
  const told = said(...polls, unknown, ...[21.6, -1, -1.01].map(withDisk))
  expect(told).toBe('lowCredit lowCredit - - - lowCredit -')
  const low = alerts(undefined, withDisk(0.02), settings)
  const [alert] = alerts(low.alerted, withDisk(-3.4), settings).alerts
  expect(alert?.title).toBe('No credit left: −$3.40')
  expect(alert?.body).toMatch(/files may be deleted.*Add credit, or destroy/)
  expect(alert?.id).toBe(low.alerts[0]?.id)
})

test('credit below zero is reported without thresholds too, but not while nothing is charged', () => {
  const off = { ...settings, lowCreditDollars: 0, lowCreditHours: 0 }
  const uncharged = alerts(undefined, withCredit(-3), off)
  expect(uncharged.alerts).toEqual([])
  const charged = accountView(
    { credit: dollars(-3) },
    instanceView({ costPerHour: 10_000, agreedPrice: 10_000 }),
  )
  expect(alerts(uncharged.alerted, charged, off).alerts).toMatchObject([{ kind: 'lowCredit' }])
})

test('an instance that appears is reported where this Berth didn’t rent it, but not what was there at the first poll', () => {
  const credit = dollars(9000)
  const foreign = accountView(
    { credit },
    instanceView({ costPerHour: 25_560_000, gpu: { name: 'H200', count: 8 } }),
  )
  const first = alerts(undefined, foreign, settings)
  expect(first.alerts).toEqual([])
  expect(alerts(first.alerted, foreign, settings).alerts).toEqual([])
  const { alerted } = alerts(undefined, accountView({ credit }), settings)
  expect(alerts(alerted, foreign, settings).alerts).toMatchObject([
    {
      kind: 'rentedElsewhere',
      title: 'H200 #4711 was rented elsewhere',
      body: expect.stringContaining('$25.560/h'),
    },
  ])
  // Of those that another Berth has marked, Activity has each, and only the first is told.
  const marked = accountView({ credit }, instanceView({ mark: 'r0123456789abcdef' }))
  expect(alerts(alerted, marked, settings).alerts).toMatchObject([
    {
      title: 'Instance #4711 was rented by another Berth',
      body: expect.stringContaining('replace your API keys'),
      group: 'another Berth',
      oncePerGroup: true,
    },
  ])
  const own = accountView({ credit }, instanceView({ agreedPrice: 25_560_000 }))
  expect(alerts(alerted, own, settings).alerts).toEqual([])
  // Its creation wasn't answered: it's known to be its own a second later, or its rental has ended.
  const isOwn = (mark: string) => mark === 'r0123456789abcdef'
  expect(alertsAfterPoll(alerted, marked, settings, 1000, isOwn).alerts).toEqual([])
})

test('thresholds of zero report nothing, and unknown credit forgets nothing', () => {
  const off = { ...settings, lowCreditDollars: 0, lowCreditHours: 0 }
  expect(alerts(undefined, withCredit(-3), off).alerts).toEqual([])
  const { credit: _, ...unknown } = accountView()
  expect(alerts({ lowCredit: true, instances: {} }, unknown, settings).alerted.lowCredit).toBe(true)
})

test.each([
  ['outbid', 'outbid'],
  ['crashed', 'crashed'],
  ['silent', 'hostGone'],
  ['offline', 'hostGone'],
] as const)('%s is reported once, at the first poll too', (state, kind) => {
  expect(said(withState('running'), withState(state), withState(state))).toBe(`- ${kind} -`)
  expect(said(withState(state), withState(state))).toBe(`${kind} -`)
  expect(said(withState(state), withState('running'), withState(state))).toBe(`${kind} - ${kind}`)
})

test.each(['crashed', 'silent', 'offline'] as const)(
  'an alert of %s offers another machine, and never to destroy it',
  state => {
    const [alert] = alerts(undefined, withState(state), settings).alerts
    expect(alert?.body).toMatch(/move to another machine\.$/)
    expect(alert?.body.includes('may come back')).toBe(state !== 'crashed')
    const labels = alert?.actions.map(({ label }) => label)
    expect(labels).toContain('Move to another machine')
    expect(labels?.join()).not.toMatch(/destroy/i)
    if (state === 'crashed') expect(labels?.slice(0, 2)).toEqual(['Log', 'Restart'])
  },
)

test('of an offline instance that costs nothing no alert says that its disk costs', () => {
  const free = instanceView({ state: 'offline', costPerHour: 0, diskPricePerHour: 50_000 })
  const [alert] = alerts(undefined, accountView({}, free), settings).alerts
  expect(alert?.body).toMatch(/may come back\. You’re not paying/)
  expect(alert?.body).not.toMatch(/[Dd]estroy/)
})

test('waiting for a GPU is reported once, with advice, and ready once it runs', () => {
  const states = ['provisioning', 'waiting', 'waiting', 'running'] as const
  expect(said(...states.map(withState))).toBe('- halted - ready')
  const [alert] = alerts(undefined, withState('waiting'), settings).alerts
  expect(alert?.body).toMatch(/rented to someone else.*billed.*cancel the start.*copy its data/)
})

test.each<[string, Partial<InstanceView>, number, string | undefined]>([
  ['without credit', {}, 0, 'Top up'],
  ['at the end of its contract', { endsAt: 900 }, 50, 'deleted 48 hours later'],
  ['by Berth', { endsAt: 900, stateRequest: { state: 'stopped', at: 900 } }, 0, undefined],
  ['by somebody else', {}, 50, undefined],
])('an instance stopped %s is reported with the reason, if the service did it', (_, given, credit, why) => {
  const history = [{ at: 1000, state: 'stopped' as const, actualStatus: 'exited' }]
  const stopped = instanceView({ state: 'stopped', history, ...given })
  const alerted: AlertedState = { lowCredit: true, instances: { 4711: 'running' } }
  const found = alerts(alerted, accountView({ credit: dollars(credit) }, stopped), settings).alerts
  if (why === undefined) expect(found).toEqual([])
  else expect(found).toMatchObject([{ kind: 'halted', body: expect.stringContaining(why) }])
})

test('an unexplained exit is reported at once, without advice to destroy', () => {
  expect(said(withState('ended'))).toBe('-')
  expect(said(withState('stopped'), withState('ended'))).toBe('- -')
  expect(said(withState('running'), withState('ended'), withState('ended'))).toBe('- crashed -')
  const alerted: AlertedState = { lowCredit: true, instances: { 4711: 'running' } }
  const [alert] = alerts(alerted, withState('ended'), settings).alerts
  expect(alert?.title).toMatch(/exited$/)
  expect(alert?.body).toMatch(/stopped or crashed. The service doesn’t say which/)
  expect(alert?.body).not.toMatch(/[Dd]estroy/)
})

test('an instance rented without being started is reported once, also if its rental is known of later', () => {
  const stopped = withState('stopped')
  const problem = { code: 'no_gpu', message: 'No GPU was free.' }
  const rented = { ...stopped, rentals: { r: rentalView({ instance: 4711, problem }) } }
  expect(said(stopped, rented, rented, stopped)).toBe('- halted - -')
  expect(said(rented, rented, withState('loading'), withState('running'))).toBe('halted - - ready')
})

test('an unstartable instance is reported with the service’s words and another image advised', () => {
  const statusMessage = 'manifest unknown'
  const [alert] = alerts(
    undefined,
    accountView({}, instanceView({ state: 'unstartable', statusMessage })),
    settings,
  ).alerts
  expect(alert).toMatchObject({ kind: 'crashed', title: expect.stringContaining('can’t start') })
  expect(alert?.body).toMatch(/^The image can’t be pulled.*manifest unknown.*Destroy it.*another image/)
})

test('ready is reported when a boot ends, not for running instances', () => {
  expect(said(withState('running'))).toBe('-')
  expect(said(withState('provisioning'), withState('loading'), withState('running'))).toBe('- - ready')
  expect(said(withState('stopped'), withState('running'))).toBe('- -')
})

test.each(['outbid', 'frozen', 'waiting', 'unstartable', 'crashed', 'silent', 'offline'] as const)(
  'the notification of %s starts with its row’s sentence, and its title is announced',
  state => {
    const instance = instanceView({ state, label: 'train', costPerHour: 6000 })
    const [alert] = alerts(undefined, accountView({}, instance), settings).alerts
    const notice = rowNoticeOf({ key: '1', instance })
    const row = notice && 'text' in notice ? notice.text : undefined
    const [first] = row?.split(/(?<=\.) /) ?? []
    expect(first).toBeTruthy()
    expect(alert?.body.split(/(?<=\.) /)[0]).toBe(first)
    const before = accountView({}, { ...instance, state: 'running' })
    expect(announcements(before, accountView({}, instance))).toEqual([`${alert?.title}.`])
  },
)
