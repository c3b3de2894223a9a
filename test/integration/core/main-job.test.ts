import { describe, expect } from 'vitest'
import { test } from '#test/berth/world.ts'
import { profileNames, profiles } from '../profiles.ts'

describe.concurrent.each(profileNames)('on the %s profile', name => {
  test('an offer is found, rented, polled until it runs, and destroyed', async ({ openWorld }) => {
    const world = await openWorld({ deployment: profiles[name] })
    const { run, account, until } = await world.startConnected()
    const { offers } = await run('searchOffers', {
      query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 1000 },
    })
    const cheapest = offers[0]
    if (!cheapest) throw new Error('no offers')

    await run('rent', {
      request: {
        offer: cheapest.id,
        image: 'pytorch/pytorch',
        access: 'ssh',
        disk: 20,
        env: [],
        ports: [],
        label: 'first',
      },
    })
    await until(() => Object.values(account().instances).some(({ state }) => state === 'running'))
    const [instance] = Object.values(account().instances)
    expect(instance?.label).toBe('first')
    expect(account().spendPerHour).toBe(instance?.pricePerHour)
    await until(() => Object.keys(account().rentals).length === 0)
    // A poll has ended once its alerts are shown.
    await run('refresh', {})
    expect(world.notifier.shown.map(({ title }) => title)).toEqual([`first #${instance?.id} is ready`])

    await run('destroyInstance', { instance: instance?.id ?? 0 })
    expect(account().instances).toEqual({})
    const creates = world.sim.controls
      .requests()
      .filter(({ method, path }) => method === 'PUT' && path.includes('/asks/'))
    expect(creates).toHaveLength(1)
  })

  test('a rental whose answer is lost is found again, not rented twice', async ({ openWorld }) => {
    const world = await openWorld({ deployment: profiles[name] })
    const { run, account, until } = await world.startConnected()
    const { offers } = await run('searchOffers', {
      query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10 },
    })
    world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'reset_after', times: 1 }])
    await run('rent', {
      request: {
        offer: offers[0]?.id ?? 0,
        image: 'pytorch/pytorch',
        access: 'ssh',
        disk: 20,
        env: [],
        ports: [],
      },
    })
    await until(() => Object.values(account().instances).some(({ state }) => state === 'running'))
    await until(() => Object.keys(account().rentals).length === 0)
    expect(Object.keys(account().instances)).toHaveLength(1)
  })
})
