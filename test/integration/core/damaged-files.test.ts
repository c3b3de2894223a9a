import { expect } from 'vitest'
import { rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

const agreed = [{ when: { kind: 'cost' as const, dollars: 20 }, action: 'stop' as const, asleep: false }]

test('a damaged limit is told on the page with its instance until that is read, and the others stay', async ({
  world,
}) => {
  const first = await world.startConnected()
  const { id } = await rentRunning(first, { limits: agreed })
  const other = await rentRunning(first, { limits: agreed })
  await first.close()
  const { files } = world.platform
  const account = first.account().id
  const name = `accounts/${account}/limits.json`
  const limits: { instance: number; when: object }[] = JSON.parse((await files.read(name)) ?? '')
  const damaged = limits.map(limit =>
    limit.instance === id ? { ...limit, when: { kind: 'cost', dollars: null } } : limit,
  )
  await files.write(name, JSON.stringify(damaged))

  const second = await world.start()
  const shown = Object.values(second.account().limits)
  expect(shown.find(({ instance }) => instance === other.id)?.when).toEqual(agreed[0]?.when)
  expect(shown.find(({ instance }) => instance === id)).toMatchObject({
    action: 'stop',
    when: { kind: 'time' },
  })
  const notice = `${account}/file-limits`
  expect(second.berth.state().notices[notice]).toMatchObject({
    urgency: 'critical',
    title: 'Some limits couldn’t be read',
    body: expect.stringContaining(`#${id}`),
  })
  await second.close()

  const third = await world.start()
  expect(third.berth.state().notices[notice]?.body).toContain('limits.json.broken')
  await third.run('dismissNotice', { id: notice })
  await third.close()
  const fourth = await world.start()
  expect(fourth.berth.state().notices).toEqual({})
  expect(Object.keys(fourth.account().limits)).toHaveLength(2)
})

test('a file of limits that is cut to nothing names the instances that lost theirs', async ({ world }) => {
  const first = await world.startConnected()
  const { id } = await rentRunning(first, { limits: agreed })
  await first.close()
  const account = first.account().id
  await world.platform.files.write(`accounts/${account}/limits.json`, '')
  const second = await world.start()
  expect(second.berth.state().notices[`${account}/file-limits`]).toMatchObject({
    title: 'No limits could be read',
    body: expect.stringMatching(new RegExp(`is empty.*Set limits again for .*#${id}`)),
  })
  await second.until(() => second.account().connection.status === 'online')
})
