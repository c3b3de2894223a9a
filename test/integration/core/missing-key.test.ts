import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { accountNow } from '#shared/derived.ts'
import { haste } from '#test/berth/clocks.ts'
import {
  codeOf,
  creates,
  everCreated,
  everyFile,
  instancesOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
  requestCheapest,
  setLimit,
} from '#test/berth/steps.ts'
import type { BerthUnderTest, World } from '#test/berth/world.ts'
import { test } from '#test/berth/world.ts'

/** Ends Berth and starts it where its keychain has nothing to give; `giveBack` returns the keys to it. */
async function restartWithoutKey(
  world: World,
  under: BerthUnderTest,
): Promise<{ under: BerthUnderTest; giveBack: () => Promise<void> }> {
  await under.close()
  const kept = [...world.keychain.entries]
  world.keychain.entries.clear()
  const second = await world.start()
  expect(second.account().connection.status).toBe('locked')
  return {
    under: second,
    async giveBack() {
      for (const [name, secret] of kept) world.keychain.entries.set(name, secret)
      await second.run('refresh', {})
    },
  }
}

/** What is on disk of the accounts, and what the service was asked for. */
const traces = async (world: World) => ({
  files: [...(await everyFile(world))].filter(([name]) => name.includes('/accounts/')),
  requests: world.sim.controls.requests().length,
})

test.concurrent('without a key the account is shown as it was left, and nothing is written or sent', async ({
  connected,
}) => {
  const { world, under: first } = await connected()
  const { id } = await rentRunning(first)
  await setLimit(first, { instance: id, warning: 300, when: { kind: 'duration', seconds: 8 * 3600 } })
  await setLimit(first, { instance: id, warning: 300, when: { kind: 'idle', below: 5, seconds: 1800 } })
  await setLimit(first, { when: { kind: 'credit', hours: 1 } })
  const before = first.account()
  const { under } = await restartWithoutKey(world, first)
  const shown = ({ limits }: typeof before) =>
    Object.values(limits).map(({ id, instance, when, sentence }) => [id, instance, when, sentence])
  expect(shown(under.account())).toEqual(shown(before))
  expect(shown(before)).toHaveLength(3)
  expect(under.account().pastRentals).toEqual(before.pastRentals)
  expect(await codeOf(under.run('listFiles', { instance: id + 1, path: '/' }))).toBe('key_missing')

  const left = await traces(world)
  await wait(1500)
  expect(await traces(world)).toEqual(left)
})

test.concurrent('a limit that comes due without a key waits for it, and then acts', async ({ connected }) => {
  // As fast as Berth's clock: a moment that is long past at the next answer counts as slept through.
  const { world, under: first } = await connected({ speed: haste })
  await rentCheapest(first)
  await first.until(() => rentalsOf(first)[0]?.step === 'waiting')
  await world.sleep(600)
  await first.until(() => rentalsOf(first).length === 0)
  const id = instancesOf(first)[0]?.id ?? 0
  const now = () => accountNow(first.account().clock, world.platform.clock.now())
  const at = now() + 12
  await setLimit(first, { instance: id, when: { kind: 'time', at } })
  const { under, giveBack } = await restartWithoutKey(world, first)
  const left = await traces(world)
  await expect
    .poll(() => accountNow(under.account().clock, world.platform.clock.now()) - at)
    .toBeGreaterThan(8)
  expect(await traces(world)).toEqual(left)
  expect(Object.values(under.account().limits)).toMatchObject([{ step: 'waiting' }])
  expect(world.notifier.shown).toEqual([])

  await giveBack()
  await under.until(() => ['stopping', 'stopped'].includes(under.account().instances[id]?.state ?? ''))
})

test.concurrent('a rental whose answer was awaited is shown without a key, and found once it is there', async ({
  connected,
  expect,
}) => {
  const { world, under: first } = await connected()
  const request = await requestCheapest(first)
  world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'delay', ms: 5000 }])
  const rental = await first.run('rent', { request })
  await expect.poll(() => everCreated(world)).toBe(1)
  const { under, giveBack } = await restartWithoutKey(world, first)
  expect(rentalsOf(under)).toMatchObject([{ id: rental, step: 'asking' }])
  const left = await traces(world)
  await wait(1500)
  expect(await traces(world)).toEqual(left)

  world.sim.controls.setFaults([])
  await giveBack()
  await under.until(() => rentalsOf(under).length === 0 && instancesOf(under)[0]?.state === 'running')
  expect(everCreated(world)).toBe(1)
  expect(creates(world)).toBe(1)
})
