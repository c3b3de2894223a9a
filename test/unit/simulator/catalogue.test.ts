import { expect, test } from 'vitest'
import machines from '#simulator/world/market/machines.json' with { type: 'json' }
import { catalogue } from '#simulator/world/market/offers.ts'

const offers = catalogue(7, 3000)

test('one seed gives one catalogue, and a longer one starts with the shorter one', () => {
  expect(catalogue(7, 500)).toEqual(offers.slice(0, 500))
  expect(catalogue(8, 500)).not.toEqual(offers.slice(0, 500))
})

test('offer ids are unique, and the offers of a machine never exceed the machine', () => {
  expect(new Set(offers.map(offer => offer.facts.id)).size).toBe(offers.length)
  const shares = new Map<number, number>()
  for (const { facts } of offers) {
    shares.set(facts.machine_id, (shares.get(facts.machine_id) ?? 0) + facts.gpu_frac)
  }
  expect(Math.max(...shares.values())).toBeLessThanOrEqual(1)
})

test('every GPU model is offered with its real memory, near its usual price', () => {
  for (const model of machines.gpus) {
    const found = offers.filter(
      ({ facts }) => facts.gpu_name === model.name && facts.gpu_ram === model.memory,
    )
    expect(found.length, model.name).toBeGreaterThan(0)
    for (const { facts, price } of found) {
      const perGpu = price / 1_000_000 / facts.num_gpus
      expect(perGpu).toBeGreaterThan(model.price * 0.7)
      expect(perGpu).toBeLessThan(model.price * 1.35)
    }
  }
})

test('the lowest bid is below the on-demand price and within the bid limits', () => {
  for (const { minBid, price } of offers) {
    expect(minBid).toBeLessThan(price)
    expect(minBid).toBeGreaterThanOrEqual(1000)
    expect(minBid).toBeLessThanOrEqual(32_000_000)
  }
})
