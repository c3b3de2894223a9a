import { expect, test } from 'vitest'
import { openStoredRentals, spentOn } from '#core/renting/rental.ts'
import { openRentals } from '#core/renting/rentals.ts'
import { cameLate } from '#core/runs/changes.ts'
import { ServiceError } from '#service/service-error.ts'
import { account, accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'
import { projectRun } from '../runs/stored-run.ts'
import { neighbours, retrying, someAttempt, someRental } from './some-rental.ts'

test('a machine that appears after its try had ended is destroyed with its new volume, and its cost counts', async () => {
  let now = 2000
  const destroyed: number[] = []
  const client = { instances: { destroy: async (id: number) => void destroyed.push(id) } }
  const deleted: unknown[] = []
  const { said, ...noted } = noting()
  const context = accountContext({ client: () => client as never, now: () => now, ...noted })
  context.deletions = {
    async delete(target: object) {
      deleted.push(target)
      return { isGone: true, ids: [77] }
    },
  } as never
  const ended = { instance: undefined, step: 'failed' as const, cost: 0, endedAt: 1100 }
  const tried = retrying(someAttempt(ended))
  const volume = { create: true, name: 'data', mountPath: '/data', size: 20 } as const
  const rental = {
    ...tried,
    request: { ...tried.request, volume },
    ...{ step: 'failed' as const, endedAt: 1100 },
  }
  await (await openStoredRentals(context)).add(rental)
  const late: number[] = []
  const rentals = await openRentals(
    context,
    { ...neighbours, ledger: { ...neighbours.ledger, found: (_, instance) => void late.push(instance) } },
    { actedOn: () => undefined },
  )
  const view = instanceView({ id: 5001, spent: { micros: 0, at: 1000, perHour: 3_600_000 } })
  const records = [{ id: 5001, extra_env: [['BERTH_RENTAL', rental.id]] }] as never
  for (; now <= 2100; now += 50) {
    rentals.onPoll(freshAnswer(context, { 5001: view }, records, now))
    await flushPromises()
  }
  expect(destroyed).toContain(5001)
  expect(late).toContain(5001)
  rentals.onPoll(freshAnswer(context, {}, [], now))
  await flushPromises()
  expect(spentOn(rentals.get(rental.id))).toBe(1_100_000)
  expect(rentals.get(rental.id).attempts[0]?.problem?.code).toBe('came_late')
  expect(deleted).toEqual([{ kind: 'volume', name: 'data', machine: 10 }])
  // What was told before, with no cost, is corrected once.
  expect(said.filter(text => text.startsWith('A machine appeared'))).toHaveLength(1)
  const run = projectRun({
    step: 'failed',
    instance: undefined,
    problem: { code: 'x', message: 'All attempts failed.' },
  })
  const corrected = { ...run, ...cameLate(run) }
  expect(corrected.problem?.message).toMatch(/^All attempts failed\. Then a machine appeared/)
  expect(cameLate(corrected)).toEqual({})
})

test('the alert that renting failed is gone once its machine is there after all', async () => {
  const withdrawn: string[] = []
  const records = [{ id: 5001, extra_env: [['BERTH_RENTAL', 'r0000000000000001']] }] as never
  const client = { instances: { list: async () => ({ instances: records, unread: [] }) } }
  const clock = new HandClock()
  const { notifications } = accountContext({})
  const context = accountContext({
    clock,
    client: () => client as never,
    now: () => 2000,
    notifications: { ...notifications, withdraw: (id: string) => void withdrawn.push(id) },
  })
  const ended = { instance: undefined, step: 'failed' as const, endedAt: 1100 }
  await (await openStoredRentals(context)).add(someRental({ ...ended, attempts: [someAttempt(ended)] }))
  const rentals = await openRentals(context, neighbours, { actedOn: () => undefined })
  rentals.onPoll(freshAnswer(context, { 5001: instanceView({ id: 5001 }) }, records, 2000))
  for (let passed = 0; passed < 3; passed += 1) {
    await flushPromises()
    await clock.pass(500)
  }
  expect(rentals.lastAttempt('r0000000000000001').instance).toBe(5001)
  expect(withdrawn).toEqual([`${account}/rental/r0000000000000001`])
})

const request = { offer: 1, image: 'ubuntu', access: 'ssh' as const, disk: 10, env: [], ports: [] }

test.each([
  ['which another rental has', undefined],
  ['which shows another label', { id: 5001, label: 'mine' }],
  ['which shows another rental’s mark', { id: 5001, extra_env: [['BERTH_RENTAL', 'r0000000000000009']] }],
  ['which is older', { id: 5001, start_date: 500 }],
])(
  'an instance that the service names for a new rental, %s, is neither taken nor destroyed',
  async (_, shown) => {
    const asked: string[] = []
    const limited: number[] = []
    const client = {
      instances: {
        destroy: async (id: number) => void asked.push(`destroy ${id}`),
        list: async () => ({ instances: shown ? [shown] : [], unread: [] }),
      },
      offers: { createInstance: async () => ({ new_contract: 5001, success: true }) },
    }
    const context = accountContext({
      client: () => client as never,
      now: () => 1000,
      newId: () => '00000000000000aa',
      record: () => shown as never,
    })
    const other = retrying(someAttempt({ instance: 5001, step: 'running' }))
    if (!shown) await (await openStoredRentals(context)).add({ ...other, step: 'ready', instance: 5001 })
    const limit = async (_mark: string, instance: number) => void limited.push(instance)
    const rentals = await openRentals(context, { ...neighbours, limit }, { actedOn: () => undefined })
    const id = await rentals.rent(request, undefined)
    await flushPromises()
    expect(rentals.lastAttempt(id)).toMatchObject({ step: 'lost', problem: { code: 'not_new' } })
    await rentals.cancel(id)
    await flushPromises()
    expect([rentals.lastAttempt(id).instance, limited, asked]).toEqual([undefined, [], []])
  },
)

test.each([false, true])(
  'a rental that waits for an answer goes on once its mark is seen (cancelled: %j)',
  async isCancelled => {
    const clock = new HandClock()
    const mark = ['BERTH_RENTAL', 'r00000000000000aa']
    let listed: object[] = [{ id: 5001 }, { id: 5002 }]
    const destroyed: number[] = []
    const client = {
      instances: {
        destroy: async (id: number) => void destroyed.push(id),
        list: async () => ({ instances: listed, unread: [] }),
      },
      offers: { createInstance: () => Promise.reject(ambiguous) },
    }
    const withdrawn: string[] = []
    const { said, ...noted } = noting()
    const notifications = {
      ...noted.notifications,
      withdraw: (one: string) => void withdrawn.push(one),
    } as never
    const context = accountContext({
      ...noted,
      notifications,
      clock,
      client: () => client as never,
      now: () => 1000,
      newId: () => '00000000000000aa',
    })
    const rentals = await openRentals(context, neighbours, { actedOn: () => undefined })
    const id = await rentals.rent(request, undefined)
    const poll = async () => {
      const views = { 5001: instanceView({ id: 5001 }), 5002: instanceView({ id: 5002 }) }
      rentals.onPoll(freshAnswer(context, views, listed as never, 1000))
      await flushPromises()
      await clock.pass(500)
      await flushPromises()
    }
    await flushPromises()
    await clock.pass(500)
    await flushPromises()
    expect(rentals.lastAttempt(id)).toMatchObject({ step: 'unclear', candidates: [5001, 5002] })
    if (isCancelled) await rentals.cancel(id)
    await poll()
    expect(rentals.lastAttempt(id).step).toBe('unclear')
    listed = [
      { id: 5001, label: 'mine' },
      { id: 5002, extra_env: [mark] },
    ]
    await poll()
    expect(rentals.lastAttempt(id).instance).toBe(5002)
    expect(said).toContain('A rental needs your answer')
    expect(withdrawn).toContain(`${account}/rental/${id}`)
    expect(destroyed).toEqual(isCancelled ? [5002] : [])
  },
)

const ambiguous = new ServiceError({
  code: 'unreachable' as never,
  status: 0,
  message: 'No answer.',
  advice: '',
  ambiguous: true,
} as never)
