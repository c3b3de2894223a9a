import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostCost } from '#renderer/features/market/cost.ts'
import { LimitsForm } from '#renderer/screens/offers/rent/limitsForm.svelte.ts'
import { numbered } from '#renderer/screens/offers/rent/rentForm.svelte.ts'
import { alikeOffers } from '#renderer/screens/offers/rent/rentSubject.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { moneyUp } from '#shared/format/money.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offer } from './listed.ts'

const stop = (when: Limit['when']): Limit => ({ when, action: 'stop', asleep: false })
const hours = (count: number) => stop({ kind: 'duration', seconds: count * 3600 })
const dollars = (amount: number) => stop({ kind: 'cost', dollars: amount })

test('with a limit of three hours, a rental costs at most these and its traffic, rounded up', () => {
  const most = mostCost({ perHour: 206_000, diskPerHour: 3000 }, 20_000, [hours(3)], 1)
  expect(most).toEqual({ micros: 638_000, limit: '3 h' })
  expect(moneyUp(most?.micros ?? 0)).toBe('$0.64')
  expect(mostCost({ perHour: 206_000, diskPerHour: 3000 }, 0, [], 1)).toBeUndefined()
  const again = mostCost({ perHour: 206_000, diskPerHour: 3000 }, 20_000, [hours(3)], 1, 50_000_000)
  expect(again?.micros).toBe((most?.micros ?? 0) + 50_000_000)
})

test('of two limits the one that is reached first counts, an amount for each machine', () => {
  const cost = { perHour: 600_000, diskPerHour: 0 }
  expect(mostCost(cost, undefined, [hours(3), dollars(20)], 3)).toEqual({ micros: 1_800_000, limit: '3 h' })
  // A volume is billed beside what the limits count.
  const stored = { ...cost, volumePerHour: 100_000 }
  expect(mostCost(stored, undefined, [hours(3)], 1)?.micros).toBe(2_100_000)
  expect(mostCost(stored, undefined, [dollars(6)], 1)?.micros).toBe(7_000_000)
  expect(mostCost(cost, undefined, [hours(300), dollars(20)], 3)).toEqual({
    micros: 60_000_000,
    limit: '$20',
  })
})

test('what is shown as the most is never less than it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), micros => {
      const shown = Number(moneyUp(micros).replace(/[$,]/g, ''))
      expect(shown * 1_000_000).toBeGreaterThanOrEqual(micros - 1e-3)
      expect(shown * 1_000_000).toBeLessThan(micros + 10_001)
    }),
  )
})

test('machines are alike with the same GPUs, as reliable and hardly dearer, each once', () => {
  const { offers } = catalogueOf(
    [
      offer({ id: 1, machineId: 1 }),
      offer({ id: 2, machineId: 2, price: 2_050_000 }),
      offer({ id: 3, machineId: 2, price: 2_060_000 }),
      offer({ id: 4, machineId: 3, price: 2_200_000 }),
      offer({ id: 5, machineId: 4, gpuCount: 2 }),
      offer({ id: 6, machineId: 5, reliability: 0.9 }),
      offer({ id: 7, machineId: 1 }),
      offer({ id: 8, machineId: 6, price: 1_900_000 }),
    ],
    'on-demand',
  )
  const [first] = offers
  expect(first && alikeOffers(offers, first).map(({ id }) => id)).toEqual([8, 2])
})

test('several machines have numbered names, and one has its name', () => {
  expect([0, 1, 2].map(index => numbered('train', index, 3))).toEqual(['train-1', 'train-2', 'train-3'])
  expect(numbered('train', 0, 1)).toBe('train')
  expect(numbered(undefined, 0, 3)).toBeUndefined()
})

test('the budget of attempts is an amount, or said to be none at once', () => {
  const form = new LimitsForm(false, { price: 0.5 })
  form.ceiling = '50'
  expect([form.budget, form.errors]).toEqual([50_000_000, {}])
  for (const wrong of ['abc', '0', '-3', '']) {
    form.ceiling = wrong
    expect([form.budget, Object.keys(form.errors), form.limits()]).toEqual([
      undefined,
      ['ceiling'],
      undefined,
    ])
  }
})
