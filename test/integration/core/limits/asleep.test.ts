import { expect, type TestContext, test } from 'vitest'
import type { Args } from '#contract/commands.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { instancesOf, rentalsOf, rentCheapest, setLimit, stops } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

const hour = 3600

interface Scene {
  world: World
  under: BerthUnderTest
  clock: HandClock
  /** Runs at first; a limit stops it in an hour. */
  instance: number
  /** Advances the world and this machine, awake. */
  pass(seconds: number): Promise<void>
}

/** Berth on a clock that is moved by hand, in a world that is advanced with it. `start`: epoch milliseconds. */
async function limited(
  context: TestContext,
  missed: Args<'setLimit'>['missed'],
  start: number = Date.now(),
): Promise<Scene> {
  const world = await createWorld({ speed: 1, start })
  context.onTestFinished(() => world.close())
  const first = await world.startConnected()
  await rentCheapest(first)
  await first.until(() => rentalsOf(first)[0]?.step === 'waiting')
  await world.sim.controls.advance(1800)
  await first.until(() => instancesOf(first)[0]?.state === 'running')
  const instance = instancesOf(first)[0]?.id ?? 0
  await first.run('changeSettings', { settings: { pollInterval: 30 } })
  await first.close()

  const clock = new HandClock(start + 1_800_000)
  const under = await world.start({ platform: { ...world.platform, clock } })
  await under.until(() => under.account().connection.status === 'online')
  await setLimit(under, { instance, missed, when: { kind: 'duration', seconds: hour } })
  await under.run('refresh', {})
  const pass = async (seconds: number) => {
    for (let gone = 0; gone < seconds; gone += 30) {
      await world.sim.controls.advance(30)
      await clock.pass(30_000)
      await under.run('refresh', {})
    }
  }
  return { world, under, clock, instance, pass }
}

const stepOf = ({ under }: Scene) => Object.values(under.account().limits)[0]?.step
test.for(['act', 'tell'] as const)(
  'a limit that came due during sleep does the chosen action once: %s',
  async (missed, context) => {
    const scene = await limited(context, missed)
    const { world, under, clock, pass } = scene
    await pass(600)
    await world.sim.controls.advance(9 * hour)
    clock.sleep(9 * hour * 1000)
    // Awake again: all timers that came due fire at once, before the first poll.
    await clock.pass(1000)
    under.berth.pollNow()
    const end = missed === 'act' ? 'done' : 'missed'
    await under.until(() => stepOf(scene) === end)
    await pass(300)
    expect(stops(scene.world, scene.instance)).toHaveLength(missed === 'act' ? 1 : 0)
    const told = () => world.titles().filter(title => /^(Stopped|A limit was missed)/.test(title)).length
    await expect.poll(told).toBe(1)
  },
)

test('a local clock that is set ahead or back moves no limit', async context => {
  const scene = await limited(context, 'act')
  const { clock, pass } = scene
  const year = 365 * 24 * hour * 1000
  clock.wall += year
  await pass(900)
  clock.wall -= 2 * year
  await pass(900)
  expect(stepOf(scene)).toBe('waiting')
  expect(stops(scene.world, scene.instance)).toHaveLength(0)
  clock.wall += year / 2
  await pass(2100)
  await scene.under.until(() => stepOf(scene) === 'done')
  expect(stops(scene.world, scene.instance)).toHaveLength(1)
})

test.for(['a day’s budget', 'a month’s budget', 'the credit'] as const)(
  '%s that is used up during days asleep stops the instance once Berth is awake',
  async (what, context) => {
    // At noon of a day within its month.
    const scene = await limited(context, 'act', new Date(2026, 9, 10, 12).getTime())
    const { world, under, clock, instance, pass } = scene
    for (const limit of Object.keys(under.account().limits)) await under.run('removeLimit', { limit })
    const { pricePerHour = 0 } = under.account().instances[instance] ?? {}
    const hourly = pricePerHour / 1_000_000
    const lasts = (under.account().credit ?? 0) / pricePerHour
    const when = {
      'a day’s budget': { kind: 'budget', per: 'day', dollars: 10 * hourly },
      'a month’s budget': { kind: 'budget', per: 'month', dollars: 40 * hourly },
      'the credit': { kind: 'credit', hours: Math.floor(lasts - 30) },
    }[what] as Args<'setLimit'>['when']
    await setLimit(under, { when })
    await pass(120)
    expect(stepOf(scene)).toBe('waiting')
    await world.sim.controls.advance(57 * hour)
    clock.sleep(57 * hour * 1000)
    await clock.pass(1000)
    // The first poll after the leap may not be sure of the time; the second one is.
    await pass(60)
    await under.until(() => stops(world, instance).length > 0)
    await pass(60)
    await under.until(() => under.account().instances[instance]?.state === 'stopped')
  },
)
