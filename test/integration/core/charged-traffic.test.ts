import { expect } from 'vitest'
import { spentBy } from '#shared/derived.ts'
import { forecast } from '#shared/spending/forecast.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { instancesOf, rentalsOf, requestCheapest, setLimit } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'
import { nextMorning } from '#test/morning.ts'

const hour = 3600
const cent = 10_000

test('charged traffic is estimated from the offer, then measured, and counted by a limit', async ({
  openWorld,
}) => {
  // World time almost stands still, and a day that ends meanwhile would split the sums.
  const world = await openWorld({
    deployment: publicProfile,
    limits: false,
    speed: 0.001,
    start: nextMorning(),
  })
  const { controls } = world.sim
  const now = () => controls.ledger().now
  const under = await world.startConnected()
  const request = await requestCheapest(under)
  const { offers } = await under.run('searchOffers', {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 64 },
  })
  const dearest = offers.reduce((one, other) => ((other.downCost ?? 0) > (one.downCost ?? 0) ? other : one))
  const perGb = Math.max(dearest.upCost ?? 0, dearest.downCost ?? 0)
  expect(perGb).toBeGreaterThan(0)

  await under.run('rent', { request: { ...request, offer: dearest.id, traffic: 240 } })
  await under.until(() => instancesOf(under).length === 1)
  const id = instancesOf(under)[0]?.id ?? 0
  const instance = () => under.account().instances[id] ?? expect.fail('it is gone')
  // Without an image pull, no traffic has been measured.
  await controls.forceStatus(id, 'running')
  await under.run('refresh', {})
  await under.until(() => rentalsOf(under).length === 0)
  const expected = Math.round(((240 * perGb) / 24) * 1_000_000)
  const { costPerHour } = instance()
  expect(instance().traffic).toMatchObject({ spent: 0, expectedPerHour: expected })
  expect(forecast(under.account(), now())).toMatchObject({
    perHour: costPerHour + expected,
    traffic: expected,
  })
  const stops = { instance: id, action: 'stop' } as const
  const preview = await under.run('previewLimit', { ...stops, when: { kind: 'cost', dollars: 10 } })
  expect(((preview.dueAt ?? 0) - now()) / hour).toBeCloseTo(10_000_000 / (costPerHour + expected), 1)

  await controls.advance(hour)
  await under.run('refresh', {})
  const charged = (...kinds: string[]) =>
    controls
      .ledger()
      .charges.filter(({ instance_id, kind }) => instance_id === id && kinds.includes(kind))
      .reduce((sum, { micro_dollars }) => sum + micro_dollars, 0)
  const traffic = () => charged('upload', 'download')
  const all = () => charged('upload', 'download', 'gpu', 'disk')
  expect(traffic()).toBeGreaterThan(cent)
  expect(instance().traffic).not.toHaveProperty('expectedPerHour')
  expect(Math.abs((instance().traffic?.spent ?? 0) - traffic())).toBeLessThan(1000)
  expect(Math.abs(spentBy(instance(), now()) - all())).toBeLessThan(cent)
  const { perHour = 0 } = instance().traffic ?? {}
  expect(perHour).toBeGreaterThan(0)
  expect(forecast(under.account(), now())).toMatchObject({ perHour: costPerHour + perHour, traffic: perHour })

  // GPUs and disk alone would take more than an hour to reach it.
  const limit = (spentBy(instance(), now()) + costPerHour + traffic() / 2) / 1_000_000
  await setLimit(under, { ...stops, when: { kind: 'cost', dollars: limit } })
  await controls.advance(hour)
  await under.until(() => instance().state === 'stopped')
})
