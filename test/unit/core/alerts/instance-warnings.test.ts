import { expect, test } from 'vitest'
import { type AlertedState, alertsAfterPoll } from '#core/alerts/poll-alerts.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { defaultSettings } from '#shared/settings.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const hour = 3600
const day = 24 * hour
/** The account's time of the first poll. */
const now = 1_790_000_000

/** The alert of each poll, or a dash; what was alerted goes through JSON, as in a restart. */
function said(...polls: { instance?: Partial<InstanceView>; at?: number; given?: Partial<AccountView> }[]) {
  let alerted: AlertedState | undefined
  const kinds = polls.map(({ instance, at = now, given = {} }) => {
    const account = accountView(given, ...(instance ? [instanceView(instance)] : []))
    const { alerts: found, alerted: after } = alertsAfterPoll(alerted, account, defaultSettings, at)
    alerted = JSON.parse(JSON.stringify(after)) as AlertedState
    return found.map(({ kind }) => kind).join() || '-'
  })
  return kinds.join(' ')
}

const full = (used: number) => ({ instance: { disk: { size: 100, used } } })

test('the end of a contract is reported once, a day or less before it', () => {
  const instance = { endsAt: now + day + hour }
  const polls = [0, hour - 1, hour, 2 * hour, day + hour, day + 2 * hour]
  expect(said(...polls.map(after => ({ instance, at: now + after })))).toBe('- - contractEnd - - -')
})

test('a postponed end is reported again when it is near', () => {
  const first = { instance: { endsAt: now + hour } }
  const later = { endsAt: now + 3 * day }
  expect(said(first, { instance: later }, { instance: later, at: now + 2 * day })).toBe(
    'contractEnd - contractEnd',
  )
})

test('an end that varies a little or is missing once is not reported again', () => {
  const ends = [now + day, now + day + 600, undefined, now + day - 600]
  const polls = ends.map(endsAt => ({ instance: endsAt === undefined ? {} : { endsAt } }))
  expect(said(...polls)).toBe('contractEnd - - -')
})

test('an end is not reported if the new prices are accepted, else it says how to accept', () => {
  const instance = { endsAt: now + hour }
  const increase = { id: 7001, instance: 4711 }
  expect(said({ instance, given: { priceIncreases: { 4711: { ...increase, accepted: true } } } })).toBe('-')
  const account = accountView({ priceIncreases: { 4711: increase } }, instanceView(instance))
  const [alert] = alertsAfterPoll(undefined, account, defaultSettings, now).alerts
  expect(alert).toMatchObject({
    kind: 'contractEnd',
    body: expect.stringContaining('accept its host’s new prices'),
  })
})

test('announced maintenance is reported once, and again only when it is moved by hours', () => {
  const given = (from: number) => ({ given: { maintenances: { 4711: { from, until: from + 2 * hour } } } })
  const polls = [given(now + day), given(now + day + 60), {}, given(now + day), given(now + 2 * day), {}]
  expect(said(...polls.map(poll => ({ instance: {}, ...poll })))).toBe('maintenance - - - maintenance -')
  const account = accountView(given(now + hour).given, instanceView())
  const [alert] = alertsAfterPoll(undefined, account, defaultSettings, now).alerts
  expect(alert?.body).toContain('for 2 h: it may go offline then.')
})

test('a disk that gets dearer is reported while its instance doesn’t run, once for each rise', () => {
  const costs = (disk: number, state: 'stopped' | 'running' = 'stopped') => ({
    instance: { state, diskPricePerHour: disk },
  })
  const polls = [1700, 1750, 0, 1700, 500_000, 500_000, 900_000].map(price => costs(price))
  expect(said(...polls)).toBe('- - - - priceIncrease - priceIncrease')
  // What runs has it in its price.
  expect(said(costs(1700, 'running'), costs(500_000, 'running'), costs(500_000))).toBe('- - -')
})

test('a disk is reported at 90% use, and again only after falling below 85%', () => {
  expect(said(...[89.9, 90, 95, 86, 92, 84.9, 90].map(full))).toBe('- diskFull - - - - diskFull')
})

test('a disk without a figure is not reported again afterwards', () => {
  const unknown = { instance: { disk: { size: 100 } } }
  expect(said(unknown, full(95), unknown, full(95))).toBe('- diskFull - -')
})

test('the alerted state of an instance goes when the instance goes', () => {
  expect(said(full(95), {}, full(95))).toBe('diskFull - rentedElsewhere,diskFull')
})

test('a price that rises beyond the known one is reported once, and again when it rises further', () => {
  const cents = (price: number, other: Partial<InstanceView> = {}) => ({
    instance: { pricePerHour: price * 10_000, ...other },
  })
  expect(said(...[30, 30.5, 62, 62, 30, 62, 90].map(price => cents(price)))).toBe(
    '- - priceIncrease - - - priceIncrease',
  )
  expect(said(cents(30), cents(60, { state: 'stopped' }), cents(30))).toBe('- - -')
  expect(said(cents(54, { agreedPrice: 5400 }), cents(54))).toBe('priceIncrease -')
  expect(said(cents(30, { interruptible: true }), cents(60, { interruptible: true }))).toBe('- -')
  // A bid beyond what Berth may raise it to is nobody's choice.
  const choice = { kind: 'raise' as const, ceiling: 0.4, every: 600 }
  const recoveries = { 4711: { choice, step: 'watching', raises: 0 } } as unknown as AccountView['recoveries']
  const bid = (price: number) => ({
    ...cents(price, { interruptible: true, bid: price * 10_000, agreedPrice: 300_000 }),
    given: { recoveries },
  })
  expect(said(bid(30), bid(40), bid(120), bid(120))).toBe('- - priceIncrease -')
  const gpu = { before: 0.3, after: 0.6 }
  const accepted = { priceIncreases: { 4711: { id: 7001, instance: 4711, gpu, accepted: true as const } } }
  const one = { gpu: { name: 'RTX 4090', count: 1 } }
  expect(said({ ...cents(30, one), given: accepted }, cents(60, one), cents(90, one))).toBe(
    '- - priceIncrease',
  )
})
