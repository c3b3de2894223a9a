import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { creates, instancesOf, rentalsOf, rentCheapest, rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'
import { retriesRequest } from '../renting/request.ts'

test('only an instance ended by neither user nor limit is put down to its watchdog', async ({
  openWorld,
}) => {
  // The test advances the world, so that a slow machine changes nothing.
  const world = await openWorld({ speed: 1 })
  const { controls } = world.sim
  const first = await world.startConnected()
  for (const more of [{}, {}, { label: 'night-run' }]) {
    await rentCheapest(first, more)
    await first.until(() => rentalsOf(first).every(({ step }) => step === 'waiting'))
  }
  await controls.advance(1800)
  await first.until(() => instancesOf(first).filter(({ state }) => state === 'running').length === 3)
  const [byUser, byLimit, byWatchdog] = instancesOf(first).sort((a, b) =>
    (a.label ?? '').localeCompare(b.label ?? ''),
  )
  if (!byUser || !byLimit || !byWatchdog) throw new Error('they were not rented')
  // No SSH answers, so no watchdog is visited.
  for (const { id } of [byUser, byLimit, byWatchdog])
    controls.setInstance(id, { ssh: { host: '127.0.0.1', port: 1 } })
  const account = first.account().id
  await first.close()

  // Each was last visited long ago, and may have been idle for long enough since.
  const idle = { seconds: 600, below: 5 }
  const watched = ({ id }: { id: number }, action: string) => ({
    instance: id,
    request: { action, idle },
    step: 'watching',
    foreign: false,
    report: { at: 1, comesBack: true, key: 'container' },
  })
  const kept = [watched(byUser, 'stop'), watched(byLimit, 'stop'), watched(byWatchdog, 'destroy')]
  await world.platform.files.write(`accounts/${account}/watchdogs.json`, JSON.stringify(kept))
  const limits = kept.map(({ instance, request: { action } }, index) => ({
    id: `g${String(index).padStart(16, '0')}`,
    instance,
    when: { kind: 'idle', ...idle },
    action,
    asleep: true,
    warning: 0,
    missed: 'act',
    setAt: 1,
    history: [],
  }))
  await world.platform.files.write(`accounts/${account}/limits.json`, JSON.stringify(limits))
  const under = await world.start()
  const stateOf = ({ id }: { id: number }) => under.account().instances[id]?.state
  await under.until(() => under.account().connection.status === 'online')
  const told = () => world.titles().filter(title => title.includes('watchdog'))

  await under.run('stopInstance', { instance: byUser.id })
  const when = { kind: 'duration', seconds: 60 } as const
  const instance = byLimit.id
  await under.run('setLimit', { instance, when, action: 'stop', warning: 0, missed: 'act' })
  await controls.advance(60)
  await under.run('refresh', {})
  await under.until(() => stateOf(byUser) === 'stopped' && stateOf(byLimit) === 'stopped')
  expect(told()).toEqual([])

  await world.api('DELETE', `/api/v0/instances/${byWatchdog.id}/`)
  await under.poll(2)
  await under.until(() => !under.account().watchdogs[byWatchdog.id])
  const title = `night-run #${byWatchdog.id} was probably destroyed by its watchdog`
  expect(told()).toEqual([title])
  const lines = Object.values(under.berth.state().activity)
  expect(lines.find(({ text }) => text === title)).toMatchObject({
    instance: byWatchdog.id,
    detail: 'Its GPU load was below 5% for 10 min.',
  })
})

const idle = { kind: 'idle', seconds: 3600, below: 5 } as const
const agreed = [{ when: idle, action: 'stop' as const, asleep: true }]

test('a start script that is too long for the service is refused unsent, and a watchdog goes over SSH instead', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  const onstart = `# ${'x'.repeat(16_000)}`
  await expect(rentCheapest(under, { onstart })).rejects.toMatchObject({
    problem: { code: 'invalid_argument', field: 'request.onstart' },
  })
  const { search, request, limits } = retriesRequest({}, { onstart })
  await expect(under.run('rentWithRetries', { search, request, limits })).rejects.toMatchObject({
    problem: { field: 'request.onstart' },
  })
  expect(creates(world)).toBe(0)

  const { id } = await rentRunning(under, { limits: agreed })
  await under.until(() => under.account().watchdogs[id]?.step === 'watching')
  expect(under.account().watchdogs[id]?.request).toEqual({
    action: 'stop',
    idle: { seconds: 3600, below: 5 },
  })
  const [create] = world.requests('PUT', '/asks/')
  expect(JSON.stringify(create)).not.toContain('watchdog')
})

test('limits of a rental that also count in a sleep bring their watchdog with the start script', async ({
  openWorld,
}) => {
  const world = await openWorld({ limits: false })
  const under = await world.startConnected()
  const { id } = await rentRunning(under, { limits: agreed, onstart: '#!/bin/bash\necho hello' })
  await under.until(() => under.account().watchdogs[id]?.step === 'watching')
  const { instances: there } = await world.api<{ instances: { onstart: string } }>(
    'GET',
    `/api/v0/instances/${id}/`,
  )
  expect(there.onstart).toMatch(
    /^#!\/bin\/bash\n# >>> berth watchdog\n[\s\S]*# <<< berth watchdog\necho hello$/,
  )
  expect(Object.values(under.account().limits)).toMatchObject([{ instance: id, when: idle, asleep: true }])
})
