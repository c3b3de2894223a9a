import { expect, test } from 'vitest'
import { increasedRate } from '#contract/spending/price-increase.ts'
import { instanceView } from '../views.ts'

const instance = instanceView({
  pricePerHour: 1_000_000,
  gpu: { name: 'H100', count: 4 },
  disk: { size: 720 },
})
const gpu = { before: 0.2, after: 0.3 }
const disk = { before: 0.1, after: 0.15 }

test.each([
  ['of each GPU', { gpu }, 1_400_000],
  ['of each GB of the disk and month', { disk }, 1_050_000],
  ['of both', { gpu, disk }, 1_450_000],
])('the new hourly price follows from the prices %s', (_, changes, after) => {
  expect(increasedRate({ id: 1, instance: 4711, ...changes }, instance)).toEqual({ before: 1_000_000, after })
})

test('no new hourly price is given for bids, unknown prices or traffic', () => {
  const ask = { id: 1, instance: 4711, gpu }
  expect(increasedRate(ask, { ...instance, interruptible: true })).toBeUndefined()
  expect(increasedRate({ ...ask, gpu: { after: 0.3 } }, instance)).toBeUndefined()
  expect(increasedRate({ id: 1, instance: 4711, upload: disk }, instance)).toBeUndefined()
  expect(increasedRate(ask, instanceView({ gpu: { name: 'H100', count: 4 } }))).toBeUndefined()
})
