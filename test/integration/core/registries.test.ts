import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { test } from '#test/berth/world.ts'

const login = { server: 'private.example', user: 'me', token: 'right-token' }

test('tags and logins of registries are read before a rental, and a refused token is in no log', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  const tags = (image: string, registry?: typeof login) => under.run('imageTags', { image, registry })
  expect(await tags('vastai/pytorch')).toContain('latest')
  expect(await tags('private.example/me/llama')).toEqual([])
  expect(await tags('private.example/me/llama', login)).toContain('latest')
  expect(await tags('no image')).toEqual([])
  const check = (token: string) => under.run('checkRegistry', { registry: { ...login, token } })
  expect(await check('right-token')).toBe('taken')
  expect(await check('wrong-token-1234')).toBe('refused')
  world.sim.controls.setFaults([{ path: 'validate-auth', kind: 'status', status: 403 }])
  expect(await check('wrong-token-1234')).toBe('unknown')
  expect(JSON.stringify(under.berth.state())).not.toContain('wrong-token-1234')
})

test('a service that reads no registries proposes nothing and refuses nothing', async ({ openWorld }) => {
  const under = await (await openWorld({ limits: false })).startConnected()
  expect(await under.run('imageTags', { image: 'vastai/pytorch' })).toEqual([])
  expect(await under.run('checkRegistry', { registry: login })).toBe('unknown')
})
