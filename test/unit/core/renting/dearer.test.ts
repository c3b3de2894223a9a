import { expect, test } from 'vitest'
import { openStoredRentals } from '#core/renting/rental.ts'
import { openRentals } from '#core/renting/rentals.ts'
import { accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'
import { neighbours, someAttempt, someRental } from './some-rental.ts'

const dollar = 1_000_000
test.each([
  ['far dearer', { pricePerHour: 10 * dollar }, true],
  ['far dearer, running already', { pricePerHour: 2.5 * dollar, state: 'running' as const }, true],
  ['as dear', { pricePerHour: dollar }, false],
  ['a little dearer', { pricePerHour: 1.5 * dollar }, false],
  ['dear for its large disk', { pricePerHour: 3 * dollar, diskPricePerHour: 2 * dollar }, false],
  ['without a price', {}, false],
])('a new machine %s than was confirmed is destroyed only if that is far more', async (_, view, isEnded) => {
  for (const [asked, confirmed] of [
    [1000, dollar],
    [1000, undefined],
    [-9000, dollar],
  ] as const) {
    const destroyed: number[] = []
    const client = { instances: { destroy: async (id: number) => void destroyed.push(id) } }
    const { said, ...noted } = noting()
    const context = accountContext({ client: () => client as never, now: () => 1100, ...noted })
    const offer = { id: 1, machineId: 10, pricePerHour: confirmed }
    await (await openStoredRentals(context)).add(
      someRental({ attempts: [someAttempt({ offer, startedAt: asked, askedAt: asked })] }),
    )
    const rentals = await openRentals(context, neighbours, { actedOn: () => undefined })
    const seen = instanceView({ id: 4711, state: 'loading', ...view })
    const records = [{ id: 4711, extra_env: [['BERTH_RENTAL', 'r0000000000000001']] }] as never
    rentals.onPoll(freshAnswer(context, { 4711: seen }, records, 1100))
    await flushPromises()
    const isRefused = isEnded && asked === 1000 && confirmed !== undefined
    expect(destroyed).toEqual(isRefused ? [4711] : [])
    expect(rentals.get('r0000000000000001').problem?.code).toBe(isRefused ? 'dearer' : undefined)
    expect(said.includes('Renting failed')).toBe(isRefused)
  }
})
