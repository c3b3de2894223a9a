import { afterEach, describe, expect, test } from 'vitest'
import { instanceView } from '#core/instances/instance-view.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect } from '../service/connected.ts'

let service: Connected
afterEach(() => service.simulator.close())

describe.each(profileNames)('an instance of the %s', name => {
  test('costs the ledger’s price with traffic, and only its disk once stopped', async () => {
    service = await connect({ deployment: profiles[name] })
    const { controls } = service.simulator
    const offers = await service.client.offers.search({ filters: { inet_down_cost: { gte: 0.005 } } })
    const dear = offers[0] ?? expect.fail('no offer whose traffic costs')
    const body = { image: 'pytorch/pytorch', disk: 40, runtype: 'ssh' }
    const { new_contract: id } = await service.client.offers.createInstance(dear.id, body)
    let view: InstanceView | undefined
    const poll = async () => {
      view = instanceView(await service.client.instances.one(id), view, controls.ledger().now)
      return view
    }
    const charges = () => controls.ledger().charges.filter(({ instance_id }) => instance_id === id)
    const price = (kind: string) =>
      charges().findLast(charge => charge.kind === kind)?.micro_dollars_per_hour ?? 0

    while ((await poll()).state !== 'running') await service.minutes(1)
    await service.minutes(120)
    const running = await poll()
    expect(running.costPerHour).toBe(price('gpu') + price('disk'))
    expect(running.pricePerHour).toBe(running.costPerHour)
    await service.minutes(60)
    const later = await poll()
    // Traffic is charged where the deployment counts it; each poll rounds once, and counters are in whole KiB.
    const charged = charges().filter(({ kind }) => kind === 'upload' || kind === 'download')
    const traffic = charged.reduce((sum, { micro_dollars }) => sum + micro_dollars, 0)
    expect(traffic > 0).toBe(name === 'public')
    expect(Math.abs((later.traffic?.spent ?? 0) - traffic)).toBeLessThan(1000)
    expect((later.traffic?.perHour ?? 0) > 0).toBe(name === 'public')

    await service.client.instances.stop(id)
    const stopped = await poll()
    expect(stopped.costPerHour).toBe(price('disk'))
    expect(stopped.diskPricePerHour).toBe(price('disk'))
    expect(stopped.costPerHour).toBeLessThan(running.costPerHour)
  })

  test('costs the ledger’s price while its host is gone', async () => {
    service = await connect({ deployment: profiles[name] })
    const { controls } = service.simulator
    const { id } = await service.rent({ image: 'ubuntu', disk: 40 })
    for (const status of ['offline', 'unknown']) {
      await controls.forceStatus(id, status)
      const { micro_dollars: before } = controls.ledger()
      await service.minutes(60)
      const hour = controls.ledger().micro_dollars - before
      expect(hour > 0).toBe(name === 'interface')
      const view = instanceView(await service.client.instances.one(id), undefined, controls.ledger().now)
      expect(Math.abs(view.costPerHour - hour)).toBeLessThan(10)
    }
  })
})
