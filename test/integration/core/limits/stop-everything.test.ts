import { expect, test } from 'vitest'
import { instancesOf, rentalsOf, rentCheapest, rentRunning } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'

test('stop everything stops instances, cancels rentals and lists what failed', async ({ onTestFinished }) => {
  const world = await createWorld()
  onTestFinished(() => world.close())
  world.sim.controls.setCredit(1000)
  const under = await world.startConnected()
  const first = await rentRunning(under)
  const second = await rentRunning(under)
  await rentCheapest(under)
  await under.until(() => rentalsOf(under)[0]?.instance !== undefined)

  const path = `/instances/${second.id}/$`
  world.sim.controls.setFaults([{ method: 'PUT', path, kind: 'status', status: 400, times: 1 }])
  const { stopped, cancelled, failed } = await under.run('stopEverything', {})
  expect({ stopped, cancelled }).toEqual({ stopped: 1, cancelled: 1 })
  expect(failed).toEqual([expect.stringContaining(`#${second.id}`)])
  // The instance of the cancelled rental is destroyed meanwhile, and may run until then.
  await under.until(() => rentalsOf(under).length === 0 && instancesOf(under).length === 2)
  expect(await under.run('stopEverything', {})).toMatchObject({ stopped: 1, failed: [] })
  await under.until(() => instancesOf(under).every(({ state }) => state === 'stopped'))
  expect(new Set(instancesOf(under).map(({ id }) => id))).toEqual(new Set([first.id, second.id]))
})

test('stop everything pauses the watches that rent, not those that only alert', async ({
  onTestFinished,
}) => {
  const world = await createWorld()
  onTestFinished(() => world.close())
  const under = await world.startConnected()
  const request = {
    name: 'Nothing matches',
    search: {
      query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10 },
      filter: { priceTo: 0.000001 },
      order: { column: 'price', descending: false },
    },
    every: 1,
  } as const
  const openRequest = { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] } as const
  const limits = { attempts: 1, ceiling: 1, deadline: 600 }
  const tells = await under.run('saveWatch', { request })
  const rents = await under.run('saveWatch', {
    request: { ...request, rents: { request: { ...openRequest, env: [], ports: [] }, limits, most: 1 } },
  })
  await under.run('stopEverything', {})
  expect(under.account().watches).toMatchObject({ [tells]: { paused: false }, [rents]: { paused: true } })
})
