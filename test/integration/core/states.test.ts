import { describe, expect, vi } from 'vitest'
import { startLiteralService } from '#test/berth/bare-services.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, test as base } from '#test/berth/world.ts'

const minute = { timeout: 150_000 }
/** With the interface's list: the other list has its own tests. */
const onPublic = { deployment: 'public', list: 'v0' }

/** A running instance, whose deployment then becomes the given one. */
const test = base.extend(
  'rented',
  ({ connected }) =>
    async (deployment: Record<string, string>, bid?: number) => {
      const { world, under } = await connected({ limits: false })
      const { id } = await rentRunning(under, bid === undefined ? {} : { bid })
      world.notifier.shown.length = 0
      const { controls } = world.sim
      controls.setDeployment(deployment)
      await under.run('refresh', {})
      const stateIn = async (berth: BerthUnderTest) => {
        await berth.run('refresh', {})
        return berth.account().instances[id]?.state
      }
      return {
        world,
        under,
        id,
        controls,
        state: (berth = under) => berth.account().instances[id]?.state,
        comesTo: (state: string, berth = under) =>
          vi.waitFor(async () => expect(await stateIn(berth)).toBe(state), {
            timeout: 150_000,
            interval: 250,
          }),
        titles: world.titles,
        async restart(before: BerthUnderTest) {
          const again = await world.restart(before)
          await again.poll()
          return again
        },
      }
    },
)

describe.concurrent.each([
  ['interface', { deployment: 'interface' }],
  ['public', onPublic],
])('on the %s profile', (name, profile) => {
  const isPublic = name === 'public'
  const outbidStates = isPublic ? ['running', 'stopped'] : ['running']

  test.concurrent(
    'a stopped instance is stopped, whatever its status says, and can be started',
    minute,
    async ({ rented }) => {
      const { under, id, state, comesTo, titles } = await rented(profile)
      await under.run('stopInstance', { instance: id })
      expect(state()).toBe('stopped')
      expect(under.account().instances[id]?.actualStatus).toBe(isPublic ? 'exited' : 'stopped')
      await under.run('startInstance', { instance: id })
      await comesTo('running')
      expect(titles()).not.toContainEqual(expect.stringContaining('crashed'))
    },
  )

  test.concurrent(
    'an exited instance counts as crashed, at once or after a delay',
    minute,
    async ({ rented }) => {
      const { under, id, state, comesTo, titles, controls } = await rented(profile)
      await controls.forceStatus(id, 'exited')
      await under.run('refresh', {})
      expect(state()).toBe(isPublic ? 'exited' : 'crashed')
      expect(titles()).toHaveLength(isPublic ? 0 : 1)
      await comesTo('crashed')
      expect(titles()).toEqual([expect.stringContaining('crashed')])
    },
  )

  for (const outbid of outbidStates)
    test.concurrent(
      `outbid, shown as ${outbid}, it is recovered, over a restart too`,
      minute,
      async ({ rented }) => {
        const { under, id, state, comesTo, controls, restart } = await rented(
          isPublic ? { ...profile, outbid } : profile,
          0.4,
        )
        await controls.outbid(id)
        await under.run('refresh', {})
        expect(state()).toBe('outbid')
        const again = await restart(under)
        expect(state(again)).toBe('outbid')
        await again.run('chooseRecovery', { instance: id, choice: { kind: 'raise', ceiling: 2, every: 60 } })
        await comesTo('running', again)
        await again.until(() => again.account().recoveries[id]?.raises === 1)
      },
    )

  test.concurrent(
    'an instance that Berth stopped is not taken for outbid after a restart',
    minute,
    async ({ rented }) => {
      const outbid = outbidStates.at(-1) ?? ''
      const { under, id, state, controls, restart } = await rented(
        isPublic ? { ...profile, outbid } : profile,
        0.4,
      )
      await under.run('chooseRecovery', { instance: id, choice: { kind: 'raise', ceiling: 2, every: 60 } })
      // No poll succeeds until Berth ends.
      controls.setFaults([{ method: 'GET', path: '/instances/', kind: 'status', status: 503, times: 1000 }])
      await under.run('stopInstance', { instance: id })
      await controls.outbid(id)
      controls.setFaults([])
      const again = await restart(under)
      expect(state(again)).toBe('stopped')
      expect(controls.requests().filter(({ path }) => path.includes('/bid_price/'))).toEqual([])
    },
  )
})

test.concurrent(
  'a start without a free GPU waits for one, over a restart, and alerts once',
  minute,
  async ({ rented }) => {
    const { under, id, state, comesTo, titles, controls, restart } = await rented(onPublic)
    await under.run('stopInstance', { instance: id })
    controls.setDeployment({ start: 'queued' })
    await under.run('startInstance', { instance: id })
    expect(state()).toBe('waiting')
    const log = under.texts()
    expect(log).toContainEqual(expect.stringContaining('Start queued'))
    const again = await restart(under)
    expect(state(again)).toBe('waiting')
    expect(titles()).toEqual([expect.stringContaining('is waiting for a GPU')])

    await again.run('stopInstance', { instance: id })
    expect(state(again)).toBe('stopped')
    await again.run('startInstance', { instance: id })
    controls.setDeployment({ start: 'boots' })
    await comesTo('running', again)
  },
)

test.concurrent(
  'a start made elsewhere that gets no GPU is provisioning, then waiting',
  minute,
  async ({ rented }) => {
    const { world, under, id, state, comesTo } = await rented(onPublic)
    await under.run('stopInstance', { instance: id })
    const states = new Set([state()])
    under.berth.onChange(() => states.add(state()))
    world.sim.controls.setDeployment({ start: 'queued' })
    await world.api('PUT', `/api/v0/instances/${id}/`, { state: 'running' })
    await comesTo('waiting')
    expect([...states]).toEqual(['stopped', 'provisioning', 'waiting'])
  },
)

test('if a stop shows as an exit, instances that Berth stopped are stopped, also after a restart', async ({
  openWorld,
  onTestFinished,
}) => {
  const service = await startLiteralService(4007, 4008)
  onTestFinished(service.close)
  const world = await openWorld()
  const under = await world.startConnected(service.baseUrl)
  await under.run('stopInstance', { instance: 4007 })
  expect(service.statuses.get(4007)).toBe('exited')
  expect(under.account().instances[4007]?.state).toBe('stopped')
  const again = await world.restart(under)
  await again.run('refresh', {})
  expect(again.account().instances[4007]?.state).toBe('stopped')

  service.statuses.set(4008, 'exited')
  await again.run('refresh', {})
  expect(again.account().instances[4008]?.state).toBe('ended')
  expect(world.titles()).toEqual(['Instance #4008 exited'])

  await again.run('startInstance', { instance: 4007 })
  await again.run('refresh', {})
  expect(again.account().instances[4007]).not.toHaveProperty('stateRequest', expect.anything())
  service.statuses.set(4007, 'exited')
  await again.run('refresh', {})
  expect(again.account().instances[4007]?.state).toBe('ended')
})
