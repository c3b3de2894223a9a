import { expect, test } from 'vitest'
import { bootSteps } from '#renderer/screens/instances/boot.ts'
import { rowNoticeOf } from '#renderer/screens/instances/rowNotice.ts'
import { winningBid } from '#shared/automation/bid.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { RentalView } from '#shared/market/rental-view.ts'
import { instanceView, rentalView } from '#test/unit/views.ts'

/** The notice in the row of an instance. */
const noticeOf = (given: Partial<InstanceView>, about?: Parameters<typeof rowNoticeOf>[1]) =>
  rowNoticeOf({ key: '1', instance: instanceView({ id: 1, ...given }) }, about)

test('an outbid instance shows both bids, that files are kept and the winning bid', () => {
  const bids = { interruptible: true, bid: 900_000, minimumBid: 1_040_000 }
  expect(noticeOf({ state: 'outbid', ...bids })).toEqual({
    kind: 'outbid',
    text: 'Your bid $0.900/h, minimum now $1.040/h. Files are kept.',
    bid: 1_250_000,
  })
})

test('a stopped instance with a low bid may have been outbid, unless Berth stopped it', () => {
  const bids = { interruptible: true, bid: 400_000, minimumBid: 900_000 }
  const stopped = (more: Partial<InstanceView>) => noticeOf({ state: 'stopped', ...bids, ...more })
  const text = 'Minimum bid is now $0.900/h (yours: $0.400/h). Raise it to start.'
  expect(stopped({})).toEqual({ kind: 'lowBid', text: `It was outbid or stopped. ${text}`, bid: 1_080_000 })
  expect(stopped({ stateRequest: { state: 'stopped', at: 0 } })).toMatchObject({ kind: 'lowBid', text })
  expect(stopped({ bid: 900_000 })).toBeUndefined()
  expect(stopped({ interruptible: false })).toBeUndefined()
})

test('a replaced instance names its replacement and cost', () => {
  const instance = instanceView({ id: 1, state: 'stopped', interruptible: true, bid: 1, minimumBid: 2 })
  const text =
    'Replaced by #2 after it was outbid. Its files are kept. It costs $0.006/h until you destroy it.'
  const row = { key: '1', instance: { ...instance, costPerHour: 6000 }, replacedBy: 2 }
  expect(rowNoticeOf(row)).toEqual({ kind: 'note', text })
})

test('the winning bid is a fifth above the lowest, as a rental’s first bid, and at most $32', () => {
  const bid = (minimumBid: number) => winningBid(instanceView({ id: 1, minimumBid }))
  expect(bid(1_044_000)).toBe(1_260_000)
  expect(bid(50_000)).toBe(60_000)
  expect(bid(31_000_000)).toBe(32_000_000)
  expect(bid(32_000_000)).toBeUndefined()
  expect(winningBid(instanceView({ id: 1 }))).toBeUndefined()
})

test.each(['crashed', 'silent', 'offline'] as const)(
  'an instance that is %s says so, with its cost',
  state => {
    expect(noticeOf({ state, costPerHour: 6000 })).toMatchObject({
      kind: 'dead',
      text: expect.stringContaining('It costs $0.006/h until you destroy it'),
    })
  },
)

test.each([
  [
    'Error: the container exited with code 137',
    'The container was killed, often because memory was full (exit code 137).',
  ],
  ['OOMKilled, exit code 137', 'Out of memory: the container was killed (exit code 137).'],
  ['exited (127)', 'Its start command wasn’t found (exit code 127).'],
  ['Exit code: 3', 'The container crashed with exit code 3.'],
  ['Error: boom', 'The container crashed. The service says: Error: boom.'],
  [undefined, 'The container crashed.'],
])('a crash with the message %j is explained', (statusMessage, words) => {
  const crashed = noticeOf({ state: 'crashed', costPerHour: 6000, ...(statusMessage && { statusMessage }) })
  expect(crashed).toMatchObject({ text: `${words} It costs $0.006/h until you destroy it.` })
})

test.each([
  ['nothing', { diskPricePerHour: 6000 }, 'You’re not paying for it now.'],
  ['what is not told', { costUnknown: true as const }, 'It costs an unknown amount until you destroy it.'],
])('an offline instance that costs %s doesn’t show $0', (_, prices, words) => {
  const text = `Its host is disconnected and may come back. ${words}`
  expect(noticeOf({ state: 'offline', costPerHour: 0, ...prices })).toMatchObject({ text })
})

test('one that ended says that it is not known why, or why it cannot start', () => {
  expect(noticeOf({ state: 'ended' })).toEqual({
    kind: 'note',
    text: 'It was stopped or crashed. The service doesn’t say which.',
  })
  expect(noticeOf({ state: 'ended' }, { now: 0, credit: 0 })).toMatchObject({
    text: expect.stringContaining('You’re out of credit'),
  })
})

test('an unstartable instance says whether its image is the reason', () => {
  const text = (statusMessage: string) => noticeOf({ state: 'unstartable', statusMessage })
  expect(text('pull access denied for x')).toMatchObject({ text: expect.stringMatching(/^The image can’t/) })
  expect(text('OCI runtime create failed')).toMatchObject({ text: expect.stringMatching(/^Its container/) })
})

test('a crash is shown before the rental that led to it', () => {
  const row = {
    key: '1',
    instance: instanceView({ id: 1, state: 'crashed' }),
    rental: rentalView({ instance: 1 }),
  }
  expect(rowNoticeOf(row)?.kind).toBe('dead')
})

test('a row says if its limits can’t act or a rental is uncertain', () => {
  const hindrance = 'until the service answers again'
  const row = { key: '1', instance: instanceView({ id: 1, state: 'running' }), limitsByBerth: 2 }
  expect(rowNoticeOf(row, { now: 0, hindrance })).toEqual({
    kind: 'note',
    text: '2 limits are set and can’t act until the service answers again.',
  })
  expect(rowNoticeOf(row)).toBeUndefined()
  expect(rowNoticeOf(row, { now: 0, hindrance, saidAbove: true })).toBeUndefined()
  const rental = { key: 'r', rental: rentalView({ step: 'asking', instance: undefined }) }
  expect(rowNoticeOf(rental, { now: 0, hindrance })).toEqual({
    kind: 'note',
    text: 'It’s unknown whether this was rented. Berth can’t check until the service answers again.',
  })
  expect(rowNoticeOf(rental)).toEqual({ kind: 'steps' })
})

test('a late rental asks, and an unclear one names the candidates', () => {
  expect(rowNoticeOf({ key: 'r', rental: rentalView({ step: 'late' }) })).toMatchObject({
    kind: 'late',
    text: expect.stringContaining('Not running after 10 min'),
  })
  expect(
    rowNoticeOf({ key: 'r', rental: rentalView({ step: 'unclear', candidates: [3, 4] }) }),
  ).toMatchObject({
    kind: 'unclear',
    candidates: [3, 4],
  })
})

test('a running instance has no notice', () => {
  expect(
    rowNoticeOf({ key: '1', instance: instanceView({ id: 1 }), rental: rentalView({ instance: 1 }) }),
  ).toBeUndefined()
})

test('the current step of a rental follows from its instance', () => {
  const at = (rental: RentalView, instance: InstanceView | undefined) =>
    bootSteps(rental, instance, { now: 0 }).find(step => step.current)?.name
  expect(at(rentalView({ step: 'asking' }), undefined)).toBe('requesting')
  expect(at(rentalView({ step: 'lost' }), undefined)).toBe('answer lost, checking the account')
  expect(at(rentalView(), instanceView({ id: 1, state: 'provisioning' }))).toBe('created, provisioning')
  const loading = (statusMessage: string) => instanceView({ id: 1, state: 'loading', statusMessage })
  expect(at(rentalView(), loading('pulling image: 64 %'))).toBe('image 64%')
  expect(at(rentalView(), loading('pulling 640%'))).toBe('image')
})

const now = 1_790_000_000
const priced = { pricePerHour: 400_000, gpu: { name: 'RTX 4090', count: 2 } }
const coming = { ...priced, disk: { size: 72, used: 70 }, endsAt: now + 5 * 3600 }

test('a coming end or a full disk is a note, unless something is more urgent', () => {
  expect(noticeOf(coming, { now })).toEqual({
    kind: 'note',
    text: 'Its contract ends in 5 h. Then it can’t start again, and its data may be deleted 48 hours later. Its disk is 97% full and can’t grow.',
  })
  expect(noticeOf({ ...coming, state: 'crashed' }, { now })?.kind).toBe('dead')
  expect(noticeOf(coming, { now: now + 5 * 3600 })).toMatchObject({
    text: 'Its disk is 97% full and can’t grow.',
  })
})

test('a price increase asks with the new hourly price, until it is accepted', () => {
  const instance = instanceView({ id: 1, ...priced })
  const increase = { id: 7, instance: 1, gpu: { before: 0.15, after: 0.25 } }
  const row = { key: '1', instance, increase }
  expect(rowNoticeOf(row, { now })).toEqual({
    kind: 'priceIncrease',
    text: 'Its host asks for $0.600/h, now $0.400/h, once its contract ends.',
    increase,
  })
  expect(rowNoticeOf({ ...row, increase: { ...increase, accepted: true } }, { now })).toBeUndefined()
})

test('prices without a known sum are listed one by one', () => {
  const increase = { id: 7, instance: 1, gpu: { after: 0.25 }, upload: { before: 0.01, after: 0.02 } }
  const text = 'GPU $0.250 per GPU and hour, Upload $0.010 → $0.020 per GB'
  const instance = instanceView({ id: 1, ...priced })
  expect(rowNoticeOf({ key: '1', instance, increase }, { now })).toMatchObject({
    text: expect.stringContaining(text),
  })
})
