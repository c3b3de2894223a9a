import { expect } from 'vitest'
import type { Limit } from '#shared/automation/limit.ts'
import { instancesOf, limitsOf, rentRunning, setLimit } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'
import { ended, rentalOf, retriesRequest } from '../renting/request.ts'

const agreed: Limit[] = [
  { when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', asleep: false },
  { when: { kind: 'duration', seconds: 8 * 3600 }, action: 'stop', asleep: false },
  { when: { kind: 'cost', dollars: 20 }, action: 'stop', asleep: false },
]
const limited = [
  { when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', step: 'waiting' },
  { when: { kind: 'duration', seconds: 8 * 3600 }, action: 'stop', step: 'waiting' },
  { when: { kind: 'cost', dollars: 20 }, action: 'stop', step: 'waiting' },
]

test.concurrent('limits requested with a rental are set on its instance and kept for the next', async ({
  connected,
}) => {
  const { world, under } = await connected()
  expect(under.account().pastRentals).toBeUndefined()
  const { id } = await rentRunning(under, { limits: agreed })
  expect(limitsOf(under, id)).toMatchObject(limited)
  expect(under.account().pastRentals?.[0]).toMatchObject({ limits: agreed })
  // The service is not told of them.
  const [create] = world.requests('PUT', '/asks/')
  expect(JSON.stringify(create)).not.toContain('"limits"')

  await world.sim.controls.advance(8 * 3600 + 60)
  await under.until(() => under.account().instances[id]?.state === 'stopped')
})

test.concurrent('limits requested with retries are set on the instance of each attempt', async ({
  connected,
}) => {
  const { world, under } = await connected()
  const id = await under.run('rentWithRetries', retriesRequest({}, { limits: agreed }))
  await under.until(() => rentalOf(under, id)?.attempts[0]?.instance !== undefined)
  const first = rentalOf(under, id)?.attempts[0]?.instance ?? 0
  expect(limitsOf(under, first)).toMatchObject(limited)
  await world.sim.controls.forceStatus(first, 'exited')
  const instance = (await ended(under, id))?.instance ?? 0
  expect(instance).not.toBe(first)
  expect(limitsOf(under, instance)).toMatchObject(limited)
})

test.concurrent('limits requested with a watch are set on the instance it rents', async ({ connected }) => {
  const { under } = await connected()
  const { search, request, limits } = retriesRequest({}, { limits: agreed })
  await under.run('saveWatch', {
    request: { name: 'Any', search, every: 1, rents: { request, limits, most: 1 } },
  })
  await under.until(() => instancesOf(under).length === 1)
  const [instance] = instancesOf(under)
  expect(limitsOf(under, instance?.id ?? 0)).toMatchObject(limited)
})

test.concurrent('a replacement inherits the remainder of the outbid instance’s limits', async ({
  connected,
}) => {
  const { world, under } = await connected()
  const { id } = await rentRunning(under, { bid: 0.4, limits: agreed })
  const [idle, duration] = limitsOf(under, id)
  await under.run('removeLimit', { limit: idle?.id ?? '' })
  const at = (duration?.dueAt ?? 0) - 3600
  await setLimit(under, { instance: id, when: { kind: 'time', at }, action: 'destroy', warning: 60 })
  await world.sim.controls.advance(2 * 3600)
  await under.run('chooseRecovery', {
    instance: id,
    choice: { kind: 'replace', ceiling: 2, every: 60, limits: { attempts: 3, ceiling: 1, deadline: 600 } },
  })
  await world.sim.controls.outbid(id)
  await under.until(() => under.account().recoveries[id]?.by !== undefined)
  const taken = limitsOf(under, under.account().recoveries[id]?.by ?? 0)
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
