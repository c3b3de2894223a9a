import { expect, test } from 'vitest'
import { openStoredRentals, spentOn } from '#core/renting/rental.ts'
import { openRentals } from '#core/renting/rentals.ts'
import { accountContext, freshAnswer } from '#test/berth/account-context.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'
import { retrying, someAttempt } from './some-rental.ts'

test('a machine that appears after its try had ended is destroyed, and what it cost counts', async () => {
  let now = 2000
  const destroyed: number[] = []
  const client = { instances: { destroy: async (id: number) => void destroyed.push(id) } }
  const context = accountContext({ client: () => client as never, now: () => now })
  const ended = { instance: undefined, step: 'failed' as const, cost: 0, endedAt: 1100 }
  const rental = { ...retrying(someAttempt(ended)), step: 'failed' as const, endedAt: 1100 }
  await (await openStoredRentals(context)).add(rental)
  const late: number[] = []
  const rentals = await openRentals(
    context,
    {
      onCreated: () => undefined,
      reserve: async () => undefined,
      late: (_, instance) => void late.push(instance),
      limit: async () => undefined,
      recover: async () => undefined,
      prepared: async request => request,
    },
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
})
