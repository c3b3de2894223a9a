import { afterEach, expect, test } from 'vitest'
import type { Simulator } from '#simulator/simulator.ts'
import { createWorld, type World } from '#test/berth/world.ts'

let world: World
afterEach(() => world.close())

/** Rents the first offer without Berth; returns the instance's id. */
async function rent({ baseUrl, apiKey }: Simulator): Promise<number> {
  const call = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    return (await fetch(`${baseUrl}/api/v0${path}`, { method, headers, body: JSON.stringify(body) })).json()
  }
  const { offers } = (await call('POST', '/bundles/', { limit: 1 })) as { offers: { id: number }[] }
  const made = (await call('PUT', `/asks/${offers[0]?.id}/`, { image: 'ubuntu', disk: 10 })) as {
    new_contract: number
  }
  return made.new_contract
}

test('container and host logs are read as plain text, where the service has them', async () => {
  world = await createWorld({ limits: false })
  const instance = await rent(world.sim)
  const under = await world.startConnected()
  await under.until(() => under.account().instances[instance] !== undefined)
  await expect(under.run('readContainerLog', { instance }), 'this one has none').rejects.toMatchObject({
    problem: { code: 'not_supported' },
  })
  await fetch(`${world.sim.baseUrl}/sim/deployment`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ deployment: 'public', list: 'v0', limits: 'buckets' }),
  })
  const { lines, cut } = await under.run('readContainerLog', { instance })
  expect(lines[0]).toMatch(/^\S+Z Starting ubuntu$/)
  expect(cut).toBe(false)
  const host = await under.run('readContainerLog', { instance, host: true })
  expect(host.lines).toContain('docker pull ubuntu')
})
