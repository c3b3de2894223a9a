import { expect, test } from 'vitest'
import { carryOut } from '#core/limits/act.ts'
import type { LimitTarget } from '#core/limits/targets.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'

test('an instance whose data is not saved stays, and the other one is destroyed', async ({
  onTestFinished,
}) => {
  const world = await createWorld()
  onTestFinished(() => world.close())
  world.sim.controls.setCredit(1000)
  const under = await world.startConnected()
  const [kept, other] = [await rentRunning(under), await rentRunning(under)]
  const client = createClient({
    baseUrl: parseBaseUrl(world.sim.baseUrl),
    key: world.sim.apiKey,
    random: Math.random,
  })
  const targets: LimitTarget[] = [kept, other].map(({ id }) => ({ instance: id, action: 'destroy' }))
  const asked: number[] = []
  const carry = (wanted: () => boolean, safe: (target: LimitTarget) => boolean) =>
    carryOut(targets, {
      client: () => client,
      ending: new AbortController().signal,
      wanted,
      before: async target => {
        asked.push(target.instance)
        return safe(target) ? target.action : undefined
      },
    })

  expect(
    await carry(
      () => false,
      () => true,
    ),
  ).toEqual({ done: [] })
  const first = await carry(
    () => true,
    ({ instance }) => instance !== kept.id,
  )
  expect(first).toMatchObject({ done: [{ instance: other.id }], problem: { code: 'not_saved' } })
  expect((await client.instances.list()).instances.map(({ id }) => id)).toEqual([kept.id])
  // An instance that is gone counts as done.
  expect(
    (
      await carry(
        () => true,
        () => true,
      )
    ).done,
  ).toHaveLength(2)
  expect((await client.instances.list()).instances).toEqual([])
  expect(asked).toEqual([kept.id, kept.id, other.id, kept.id, other.id])
})
