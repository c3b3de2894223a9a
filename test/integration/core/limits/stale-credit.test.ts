import { expect, type TestContext, test } from 'vitest'
import type { Args } from '#contract/commands.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import {
  instancesOf,
  isHalted as isStopped,
  rentalsOf,
  rentCheapest,
  setLimit,
  stops,
} from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { nextMorning } from '#test/morning.ts'

const soon = { timeout: 150_000, interval: 20 }
const minute = 60
const hour = 3600

interface Scene {
  world: World
  under: BerthUnderTest
  /** A running instance. */
  id: number
  /** Advances the world and this machine in steps, each with a poll. */
  pass(seconds: number, poll?: BerthUnderTest): Promise<void>
}

/** An instance that has cost half an hour. Only `pass` advances the world, so that a slow machine changes nothing. */
async function running({ onTestFinished }: TestContext, credit = 100): Promise<Scene> {
  // A day or month that ends meanwhile would be reported, or reset its budget.
  const world = await createWorld({ start: nextMorning(), speed: 1 })
  onTestFinished(() => world.close())
  const { controls } = world.sim
  // This machine's time advances alike, since steps of the world alone would look like a faster world.
  let passed = 0
  const monotonic = () => systemClock.monotonic() + passed * 1000
  Object.assign(world.platform, { clock: { ...systemClock, monotonic } })
  const step = 5 * minute
  const pass = async (seconds: number, poll = under) => {
    for (let gone = 0; gone < seconds; gone += step) {
      const advanced = controls.advance(step)
      passed += step
      await advanced
      await poll.run('refresh', {})
    }
  }
  controls.setCredit(credit)
  const under = await world.startConnected()
  await rentCheapest(under)
  await under.until(() => rentalsOf(under)[0]?.step === 'waiting')
  await controls.advance(1800)
  await under.until(() => instancesOf(under)[0]?.state === 'running')
  controls.setCredit(credit)
  await under.run('refresh', {})
  return { world, under, id: instancesOf(under)[0]?.id ?? 0, pass }
}

type LimitSettings = Pick<Args<'setLimit'>, 'when'> & Partial<Args<'setLimit'>>

const limit = ({ under }: Scene, settings: LimitSettings) => setLimit(under, settings)
const only = ({ under }: Scene): LimitView | undefined => Object.values(under.account().limits)[0]
const hourly = ({ under, id }: Scene) => (under.account().instances[id]?.costPerHour ?? 0) / 1_000_000
const isHalted = ({ under, id }: Scene) => isStopped(under, id)
/** Lets polls return instances but no credit: it is refused, or that part is down. */
const untell = ({ world }: Scene, status: number) =>
  world.sim.controls.setFaults([{ path: '^/api/v0/users/current/', kind: 'status', status }])

const kinds: [string, number, (scene: Scene) => LimitSettings][] = [
  ['credit', 403, scene => ({ when: { kind: 'credit', hours: 100 / hourly(scene) - 0.7 } })],
  ['credit', 500, scene => ({ when: { kind: 'credit', hours: 100 / hourly(scene) - 0.7 } })],
  ['budget', 403, scene => ({ when: { kind: 'budget', per: 'month', dollars: hourly(scene) * 1.2 } })],
]

test.concurrent.for(kinds)(
  'a limit on the %s waits while the credit is missing (%i), then acts',
  async ([, status, settings], context) => {
    const scene = await running(context)
    const { world, under } = scene
    await limit(scene, settings(scene))
    await under.run('refresh', {})
    const creditReadAt = world.sim.controls.ledger().now
    untell(scene, status)
    await scene.pass(5 * minute)
    const dueAt = only(scene)?.dueAt ?? 0
    expect(only(scene)?.problem?.code).toBe('credit_stale')
    expect(Math.abs((under.account().creditAt ?? 0) - creditReadAt)).toBeLessThan(2 * minute)
    await scene.pass(5 * minute)
    expect(Math.abs((only(scene)?.dueAt ?? 0) - dueAt)).toBeLessThan(2 * minute)
    await scene.pass(40 * minute)
    await under.until(() => only(scene)?.step === 'held')
    await context.expect
      .poll(() => scene.world.titles(), soon)
      .toContainEqual(expect.stringContaining('reports the credit'))
    expect(stops(scene.world, scene.id)).toEqual([])
    expect(under.account().connection.status).toBe('online')
    world.sim.controls.setFaults([])
    await under.run('refresh', {})
    await under.until(() => isHalted(scene))
    expect(under.account().creditAt).toBeUndefined()
    await under.until(() => only(scene)?.problem === undefined)
  },
)

test.concurrent('a budget keeps what it has counted over a restart without a known credit', async context => {
  const scene = await running(context)
  const { world, under } = scene
  await limit(scene, { when: { kind: 'budget', per: 'month', dollars: hourly(scene) } })
  await under.run('refresh', {})
  untell(scene, 403)
  await scene.pass(40 * minute)
  expect(stops(scene.world, scene.id)).toEqual([])
  const again = await world.restart(under)
  await scene.pass(30 * minute, again)
  await again.until(() => isHalted({ ...scene, under: again }))
})

test.concurrent('a limit that needs no credit acts while the account cannot be read', async context => {
  const scene = await running(context)
  const { world, under, id } = scene
  untell(scene, 500)
  await limit(scene, { instance: id, when: { kind: 'duration', seconds: hour } })
  await scene.pass(65 * minute)
  await under.until(() => isHalted(scene))
  expect(under.account().limitation).toContain('not the account')
  world.sim.controls.setFaults([])
  await under.run('refresh', {})
  expect(under.account().limitation).toBeUndefined()
})

test.concurrent('a poll without instances fails and no limit acts, even with a credit', async context => {
  const scene = await running(context)
  const { world, under, id } = scene
  await limit(scene, { instance: id, when: { kind: 'duration', seconds: hour } })
  world.sim.controls.setFaults([{ path: '^/api/v0/instances/$', kind: 'status', status: 500 }])
  await world.sim.controls.advance(2 * hour)
  await under.until(() => under.account().connection.status === 'offline')
  await under.run('refresh', {})
  expect(stops(scene.world, scene.id)).toEqual([])
})

test.concurrent('a limit set within its warning time warns at once, though the service is down', async context => {
  const scene = await running(context)
  const { world, under, id } = scene
  world.sim.controls.setFaults([{ path: '^/api/', kind: 'status', status: 503 }])
  await under.until(() => under.account().connection.status === 'offline')
  await limit(scene, {
    instance: id,
    when: { kind: 'duration', seconds: 10 * hour },
    warning: 12 * hour,
  })
  await context.expect
    .poll(() => scene.world.titles(), soon)
    .toContainEqual(expect.stringContaining(' stops at '))
  await under.until(() => only(scene)?.step === 'warned')
})

test.concurrent('a credit limit that is overdue when it is set is due from then, not earlier', async context => {
  const scene = await running(context, 0.01)
  const { world, under } = scene
  untell(scene, 403)
  await under.run('refresh', {})
  const setAt = world.sim.controls.ledger().now
  await limit(scene, { when: { kind: 'credit', hours: 5000 } })
  await under.until(() => only(scene)?.dueAt !== undefined)
  expect(only(scene)?.dueAt).toBeGreaterThan(setAt - minute)
})
