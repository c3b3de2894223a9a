import { describe } from 'vitest'
import { priceChanges } from '#shared/spending/price-increase.ts'
import { interfaceProfile, type Profile, publicProfile } from '#simulator/deployment.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { test as base } from '#test/berth/world.ts'
import { profileNames, profiles } from '../profiles.ts'

const day = 86_400

/** Berth connected to a deployment, with one running instance. */
const test = base.extend('rented', async ({ openWorld }) => {
  return async (deployment: Profile = interfaceProfile) => {
    const world = await openWorld({ deployment })
    const { controls } = world.sim
    controls.setCredit(1000)
    let under = await world.startConnected()
    const { id } = await rentRunning(under)
    world.notifier.shown.length = 0
    const poll = () => under.run('refresh', {})
    return {
      id,
      controls,
      under: () => under,
      poll,
      titles: world.titles,
      now: () => controls.ledger().now,
      /** Restarts Berth on the same files, and polls. */
      async restart() {
        under = await world.restart(under)
        await poll()
      },
    }
  }
})

describe.concurrent.each(profileNames)('on the %s profile', name => {
  test('a contract ending within a day and a full disk alert once, even after a restart', async ({
    rented,
    expect,
  }) => {
    const { id, controls, poll, titles, now, restart } = await rented(profiles[name])
    controls.setInstance(id, { endDate: now() + 2 * day, diskUsage: 17.9 })
    await poll()
    expect(titles()).toEqual([])
    controls.setInstance(id, { endDate: now() + day / 2, diskUsage: 18.5 })
    await poll()
    await poll()
    expect(titles()).toEqual([
      expect.stringMatching(/^The contract of .* ends (at|on) /),
      expect.stringMatching(/^The disk of .* is 92% full$/),
    ])
    await restart()
    expect(titles()).toHaveLength(2)
    controls.setInstance(id, { diskUsage: 15 })
    await poll()
    controls.setInstance(id, { diskUsage: 18.5 })
    await poll()
    expect(titles()).toHaveLength(3)
  })
})

test.concurrent('a service without price increases is asked for them at most once a day', async ({
  rented,
  expect,
}) => {
  const { controls, under, poll, restart } = await rented()
  const asked = () =>
    controls.requests().filter(({ path }) => path.includes('pending-price-increases')).length
  await expect.poll(asked).toBe(1)
  await poll()
  await controls.advance(day / 2)
  await poll()
  await restart()
  expect(asked()).toBe(1)
  expect(under().account().priceIncreases).toEqual({})
})

test.concurrent('announced maintenance is shown and alerts once, also after a restart', async ({
  rented,
  expect,
}) => {
  const { id, controls, titles, under, poll, restart } = await rented(publicProfile)
  const shown = () => under().account().maintenances?.[id]
  controls.announceMaintenance(id, day, 2, 'power')
  await controls.advance(660)
  await poll()
  await under().until(() => shown() !== undefined)
  expect(shown()).toMatchObject({ category: 'power' })
  await poll()
  await under().until(() => titles().length === 1)
  expect(titles()[0]).toContain('Maintenance of ')
  await restart()
  await under().until(() => shown() !== undefined)
  await poll()
  expect(titles()).toHaveLength(1)
  await controls.advance(day + 3 * 3600)
  await poll()
  await under().until(() => shown() === undefined)
})

describe.concurrent('a price increase', () => {
  const increased = test.extend('increase', async ({ rented }) => {
    const berth = await rented(publicProfile)
    const { id, controls, under, poll } = berth
    const shown = () => under().account().priceIncreases[id]
    /** Polls once price increases are due to be read again. */
    async function laterPoll(): Promise<void> {
      await controls.advance(660)
      await poll()
    }
    controls.askPriceIncrease(id, 1.5)
    await laterPoll()
    await under().until(() => shown() !== undefined)
    return {
      ...berth,
      shown,
      laterPoll,
      instance: () => under().account().instances[id],
      answer(command: 'acceptPriceIncrease' | 'refusePriceIncrease', at = shown()) {
        const answered = { instance: id, increase: at?.id ?? 0 }
        return command === 'refusePriceIncrease'
          ? under().run(command, answered)
          : under().run(command, { ...answered, changes: at ? priceChanges(at) : [] })
      },
    }
  })

  increased('alerts once with the new price, even after a restart', async ({ increase, expect }) => {
    const { titles, under, shown, instance, laterPoll, restart } = increase
    const price = (instance()?.pricePerHour ?? 0) / 1_000_000
    await under().until(() => titles().length === 1)
    expect(titles()[0]).toContain(`price goes up to $${(price * 1.5).toFixed(3)}/h`)
    const { from = 0, until = 0 } = shown() ?? {}
    expect(from).toBe(instance()?.endsAt)
    expect(until).toBeGreaterThan(from)
    await laterPoll()
    await restart()
    await under().until(() => shown() !== undefined)
    expect(titles()).toHaveLength(1)
  })

  increased(
    'that is accepted applies from the contract’s end, without a contract alert',
    async ({ increase, expect }) => {
      const { controls, now, titles, poll, shown, instance, answer, restart } = increase
      const before = instance()
      await answer('acceptPriceIncrease')
      expect(shown()).toMatchObject({ accepted: true, from: before?.endsAt })
      await restart()
      expect(shown()).toMatchObject({ accepted: true })
      // Its cost goes by that price from then on, also while nobody polls.
      const { rise } = instance()?.spent ?? {}
      expect(rise?.at).toBe(before?.endsAt)
      expect(Math.abs((rise?.perHour ?? 0) - (before?.costPerHour ?? 0) * 1.5)).toBeLessThan(10)
      const alerts = titles().length
      await controls.advance((before?.endsAt ?? 0) - now() - day / 2)
      await poll()
      expect(instance()?.pricePerHour).toBe(before?.pricePerHour)
      expect(
        titles()
          .slice(alerts)
          .filter(title => title.includes('contract')),
      ).toEqual([])
      await controls.advance(day)
      await poll()
      await poll()
      const { pricePerHour = 0, state, spent } = instance() ?? {}
      expect(spent?.rise).toBeUndefined()
      expect(state).toBe('running')
      expect(Math.abs(pricePerHour - (before?.pricePerHour ?? 0) * 1.5)).toBeLessThan(10)
      expect(shown()).toBeUndefined()
    },
  )

  increased('that is refused changes nothing, and another one alerts again', async ({ increase, expect }) => {
    const { id, controls, titles, under, shown, instance, answer, laterPoll } = increase
    const before = instance()
    await answer('refusePriceIncrease')
    expect(shown()).toBeUndefined()
    expect(instance()).toMatchObject({
      pricePerHour: before?.pricePerHour,
      endsAt: before?.endsAt,
    })
    controls.askPriceIncrease(id, 2)
    await laterPoll()
    await under().until(() => shown() !== undefined)
    await expect.poll(titles).toHaveLength(2)
  })

  increased('that asks for more by now than was shown is not accepted', async ({ increase, expect }) => {
    const { shown, answer, instance } = increase
    const asked = shown()
    const less = { ...asked, gpu: { ...asked?.gpu, after: 0.01 } } as typeof asked
    expect(await codeOf(answer('acceptPriceIncrease', less))).toBe('price_changed')
    expect(shown()?.accepted).toBeUndefined()
    await answer('acceptPriceIncrease')
    expect(shown()).toMatchObject({ accepted: true, from: instance()?.endsAt })
  })

  increased(
    'that is no longer pending is refused, and the pending one is shown',
    async ({ increase, expect }) => {
      const { id, controls, under, shown, answer } = increase
      const old = shown()
      controls.askPriceIncrease(id, 3)
      expect(await codeOf(answer('acceptPriceIncrease', old))).toBe('no_price_increase')
      await under().until(() => shown()?.id === (old?.id ?? 0) + 1)
      expect(controls.instances().find(instance => instance['id'] === id)).toBeDefined()
    },
  )
})
