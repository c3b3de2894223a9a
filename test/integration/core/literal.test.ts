import { expect, type TestContext, test } from 'vitest'
import { startLiteralService } from '#test/berth/bare-services.ts'
import { createWorld } from '#test/berth/world.ts'

async function connected(context: TestContext, ...running: number[]) {
  const service = await startLiteralService(...running)
  const world = await createWorld()
  context.onTestFinished(async () => {
    await world.close()
    await service.close()
  })
  const under = await world.start()
  await under.run('connectAccount', { baseUrl: service.baseUrl, key: 'some-key' })
  await under.until(() => under.account().connection.status === 'online')
  return { service, world, under }
}

test('if a stop shows as an exit, instances that Berth stopped are stopped, also after a restart', async context => {
  const { service, world, under } = await connected(context, 4007, 4008)
  await under.run('stopInstance', { instance: 4007 })
  expect(service.statuses.get(4007)).toBe('exited')
  expect(under.account().instances[4007]?.state).toBe('stopped')
  await under.close()
  const again = await world.start()
  await again.until(() => again.account().connection.status === 'online')
  await again.run('refresh', {})
  expect(again.account().instances[4007]?.state).toBe('stopped')

  service.statuses.set(4008, 'exited')
  await again.run('refresh', {})
  expect(again.account().instances[4008]?.state).toBe('ended')
  expect(world.notifier.shown.map(({ title }) => title)).toEqual(['Instance #4008 has exited'])

  await again.run('startInstance', { instance: 4007 })
  await again.run('refresh', {})
  expect(again.account().instances[4007]).not.toHaveProperty('asked', expect.anything())
  service.statuses.set(4007, 'exited')
  await again.run('refresh', {})
  expect(again.account().instances[4007]?.state).toBe('ended')
})
