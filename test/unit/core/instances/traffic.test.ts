import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trafficOf, trafficPrices } from '#core/instances/traffic.ts'
import { offerView } from '#core/market/offer-view.ts'
import type { InstanceTraffic } from '#shared/spending/traffic.ts'

const gb = 1024 ** 2
const priced = { inet_up_cost: 0.02, inet_down_cost: 0.01 }

test('invalid prices of traffic and of an offer’s storage are ignored', () => {
  expect(trafficPrices(priced)).toEqual({ upCost: 0.02, downCost: 0.01 })
  expect(offerView({ id: 1, storage_cost: 0.15 }).storageCost).toBe(0.15)
  for (const absurd of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e9]) {
    expect(trafficPrices({ inet_up_cost: absurd })).toEqual({})
    expect(offerView({ id: 1, storage_cost: absurd }).storageCost).toBeUndefined()
  }
})

test('only increases are charged: not the first figure, nor a counter that fell', () => {
  const first = trafficOf({ ...priced, inet_up_billed: 50 * gb, inet_down_billed: 70 * gb }, undefined, 1000)
  expect(first.charged).toBe(0)
  const next = trafficOf(
    { ...priced, inet_up_billed: 51 * gb, inet_down_billed: 74 * gb },
    first.traffic,
    1060,
  )
  expect(next.charged).toBe(20_000 + 40_000)
  const anew = trafficOf({ ...priced, inet_up_billed: gb, inet_down_billed: gb }, next.traffic, 1120)
  expect(anew.charged).toBe(0)
  const on = trafficOf({ ...priced, inet_up_billed: gb, inet_down_billed: 2 * gb }, anew.traffic, 1180)
  expect(on).toMatchObject({ charged: 10_000, traffic: { spent: 70_000 } })
})

test('all bytes of an instance count that Berth rented, whenever its counters appear', () => {
  const count = fc.record({
    up: fc.nat(100),
    down: fc.nat(100),
    lacks: fc.constantFrom('', 'up', 'down', 'both'),
  })
  fc.assert(
    fc.property(fc.array(count, { minLength: 1, maxLength: 10 }), grown => {
      let [seen, spent, up, down] = [undefined as InstanceTraffic | undefined, 0, 0, 0]
      for (const [index, { lacks, ...more }] of [...grown, { up: 0, down: 0, lacks: '' }].entries()) {
        up += more.up * gb
        down += more.down * gb
        const counters = {
          ...(lacks !== 'up' && lacks !== 'both' && { inet_up_billed: up }),
          ...(lacks !== 'down' && lacks !== 'both' && { inet_down_billed: down }),
        }
        const { traffic, charged } = trafficOf({ ...priced, ...counters }, seen, 1060 + index * 60, 1000)
        spent += charged
        seen = traffic
      }
      expect(spent).toBe(Math.round((up / gb) * 20_000 + (down / gb) * 10_000))
    }),
  )
})

test('a counter that jumped by more than any line carries costs nothing', () => {
  const first = trafficOf({ ...priced, inet_up_billed: 50 * gb }, undefined, 1000)
  const jumped = trafficOf({ ...priced, inet_up_billed: 1e9 * gb }, first.traffic, 1060)
  expect(jumped.charged).toBe(0)
  expect(trafficOf({ ...priced, inet_up_billed: 1e9 * gb + gb }, jumped.traffic, 1120).charged).toBe(20_000)
})

test('a counter missing from some answers continues', () => {
  const first = trafficOf({ ...priced, inet_down_billed: gb }, undefined, 1000)
  const silent = trafficOf({}, first.traffic, 1060)
  expect(trafficOf({ ...priced, inet_down_billed: 3 * gb }, silent.traffic, 1120).charged).toBe(20_000)
})

test('the traffic cost per hour is a recent average that fades without traffic', () => {
  let { traffic } = trafficOf({ ...priced, inet_down_billed: 0 }, undefined, 0)
  for (let at = 60; at <= 6 * 3600; at += 60)
    traffic = trafficOf({ ...priced, inet_down_billed: (at / 3600) * 10 * gb }, traffic, at).traffic
  expect(traffic?.perHour).toBeGreaterThan(99_000)
  expect(traffic?.perHour).toBeLessThanOrEqual(100_000)
  const idle = trafficOf({ ...priced, inet_down_billed: 60 * gb }, traffic, 30 * 3600)
  expect(idle.traffic?.perHour).toBe(0)
})
