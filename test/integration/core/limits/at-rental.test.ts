import { expect, type TestContext, test } from 'vitest'
import type { Limit } from '#contract/automation/limit.ts'
import { instancesOf, rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { ended, rentalOf, retriesRequest } from '../renting/request.ts'

const stops: Limit[] = [
  { when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', asleep: false },
  { when: { kind: 'duration', seconds: 8 * 3600 }, action: 'stop', asleep: false },
  { when: { kind: 'cost', dollars: 20 }, action: 'stop', asleep: false },
]
const limited = [
  { when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', step: 'waiting' },
  { when: { kind: 'duration', seconds: 8 * 3600 }, action: 'stop', step: 'waiting' },
  { when: { kind: 'cost', dollars: 20 }, action: 'stop', step: 'waiting' },
]

async function connected(context: TestContext): Promise<{ world: World; under: BerthUnderTest }> {
  const world = await createWorld({ calm: true })
  context.onTestFinished(() => world.close())
  return { world, under: await world.startConnected() }
}

/** The limits on an instance, in the order in which they were chosen. */
const limitsOn = (under: BerthUnderTest, instance: number) =>
  Object.values(under.account().limits).filter(limit => limit.instance === instance)

test.concurrent('limits requested with a rental are set on its instance and kept for the next', async context => {
  const { world, under } = await connected(context)
  expect(under.account().lastRental).toBeUndefined()
  const { id } = await rentRunning(under, { stops })
  expect(limitsOn(under, id)).toMatchObject(limited)
  expect(under.account().lastRental).toMatchObject({ stops })
  // The service is not told of them.
  const [create] = world.sim.controls.requests().filter(({ path }) => path.includes('/asks/'))
  expect(JSON.stringify(create)).not.toContain('stops')

  await world.sim.controls.advance(8 * 3600 + 60)
  await under.until(() => under.account().instances[id]?.state === 'stopped', 30_000)
})

test.concurrent('limits requested with retries are set on the instance of each attempt', async context => {
  const { world, under } = await connected(context)
  const id = await under.run('rentWithRetries', retriesRequest({}, { stops }))
  await under.until(() => rentalOf(under, id)?.tries[0]?.instance !== undefined, 30_000)
  const first = rentalOf(under, id)?.tries[0]?.instance ?? 0
  expect(limitsOn(under, first)).toMatchObject(limited)
  await world.sim.controls.forceStatus(first, 'exited')
  const instance = (await ended(under, id))?.instance ?? 0
  expect(instance).not.toBe(first)
  expect(limitsOn(under, instance)).toMatchObject(limited)
})

test.concurrent('limits requested with a watch are set on the instance it rents', async context => {
  const { under } = await connected(context)
  const { search, request, limits } = retriesRequest({}, { stops })
  await under.run('saveWatch', {
    request: { name: 'Any', search, every: 1, rents: { request, limits, most: 1 } },
  })
  await under.until(() => instancesOf(under).length === 1, 40_000)
  const [instance] = instancesOf(under)
  expect(limitsOn(under, instance?.id ?? 0)).toMatchObject(limited)
})

test.concurrent('a replacement inherits the remainder of the outbid instance’s limits', async context => {
  const { world, under } = await connected(context)
  const { id } = await rentRunning(under, { bid: 0.4, stops })
  const [idle, duration] = limitsOn(under, id)
  await under.run('removeLimit', { limit: idle?.id ?? '' })
  const at = (duration?.dueAt ?? 0) - 3600
  await under.run('setLimit', {
    instance: id,
    when: { kind: 'time', at },
    action: 'destroy',
    warning: 60,
    missed: 'act',
  })
  await world.sim.controls.advance(2 * 3600)
  await under.run('chooseRecovery', {
    instance: id,
    choice: { kind: 'replace', ceiling: 2, every: 60, limits: { attempts: 3, ceiling: 1, deadline: 600 } },
  })
  await world.sim.controls.outbid(id)
  await under.until(() => under.account().recoveries[id]?.by !== undefined, 40_000)
  const taken = limitsOn(under, under.account().recoveries[id]?.by ?? 0)
  expect(taken).toMatchObject([
    { when: duration?.when, action: 'stop', dueAt: duration?.dueAt },
    { when: { kind: 'cost' }, action: 'stop' },
    { when: { kind: 'time', at }, action: 'destroy', warning: 60 },
  ])
  // Two hours at $0.40/h.
  const [, cost] = taken
  expect(cost?.when.kind === 'cost' && cost.when.dollars).toBeLessThan(19.3)
  expect(cost?.history.at(-1)?.text).toMatch(/^Carried over from #\d+, which had cost \$0\.\d\d$/)
})
