import { expect, onTestFinished, test } from 'vitest'
import { publicProfile } from '#simulator/deployment/profile.ts'
import { retriesRequest } from '../attempts/request.ts'
import { creates, instancesOf, rentalsOf, rentCheapest, rentRunning } from '../steps.ts'
import { createWorld } from '../world.ts'

test('only an instance ended by neither user nor limit is put down to its watchdog', async () => {
  // The test advances the world, so that a slow machine changes nothing.
  const world = await createWorld({ speed: 1 })
  onTestFinished(() => world.close())
  const { controls, baseUrl, apiKey } = world.sim
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
    seen: { at: 1, comesBack: true, key: 'container' },
  })
  const kept = [watched(byUser, 'stop'), watched(byLimit, 'stop'), watched(byWatchdog, 'destroy')]
  await world.machine.files.write(`accounts/${account}/watchdogs.json`, JSON.stringify(kept))
  const under = await world.start()
  const stateOf = ({ id }: { id: number }) => under.account().instances[id]?.state
  await under.until(() => under.account().connection.status === 'online')
  const told = () =>
    world.notifier.shown.map(({ title }) => title).filter(title => title.includes('watchdog'))

  await under.run('stopInstance', { instance: byUser.id })
  const when = { kind: 'duration', seconds: 60 } as const
  const instance = byLimit.id
  await under.run('setLimit', { instance, when, action: 'stop', warning: 0, missed: 'act' })
  await controls.advance(60)
  await under.run('refresh', {})
  await under.until(() => stateOf(byUser) === 'stopped' && stateOf(byLimit) === 'stopped')
  expect(told()).toEqual([])

  await fetch(`${baseUrl}/api/v0/instances/${byWatchdog.id}/`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${apiKey}` },
  })
  await under.run('refresh', {})
  await under.run('refresh', {})
  await under.until(() => !under.account().watchdogs[byWatchdog.id])
  const title = `night-run #${byWatchdog.id} was probably destroyed by its watchdog`
  expect(told()).toEqual([title])
  const lines = Object.values(under.berth.state().activity)
  expect(lines.find(({ text }) => text === title)).toMatchObject({
    instance: byWatchdog.id,
    detail: 'Its GPUs were idle for as long as was set.',
  })
})

test('a watchdog time in the past is refused, on an instance and in a start script', async () => {
  const world = await createWorld({ speed: 1 })
  onTestFinished(() => world.close())
  const under = await world.startConnected()
  await rentCheapest(under)
  await under.until(() => instancesOf(under).length === 1)
  const instance = instancesOf(under)[0]?.id ?? 0
  const request = { action: 'stop', at: Math.floor(world.sim.controls.ledger().now) - 60 } as const
  const problem = { code: 'invalid_argument', field: 'request.at', message: 'That time has passed already.' }
  await expect(under.run('putWatchdog', { instance, request })).rejects.toMatchObject({ problem })
  await expect(under.run('watchdogStartScript', { request })).rejects.toMatchObject({ problem })
  expect(under.account().watchdogs).toEqual({})
})

test('a start script that is too long for the service is refused unsent, and a watchdog goes over SSH instead', async () => {
  const world = await createWorld({ deployment: publicProfile, limits: false })
  onTestFinished(() => world.close())
  const under = await world.startConnected()
  const watchdog = { action: 'stop', idle: { seconds: 3600, below: 5 } } as const
  const onstart = await under.run('watchdogStartScript', { request: watchdog })
  await expect(rentCheapest(under, { onstart })).rejects.toMatchObject({
    problem: { code: 'invalid_argument', field: 'request.onstart' },
  })
  const { search, request, limits } = retriesRequest({}, { onstart })
  await expect(under.run('rentWithFailover', { search, request, limits })).rejects.toMatchObject({
    problem: { field: 'request.onstart' },
  })
  expect(creates(world)).toBe(0)

  const { id } = await rentRunning(under, { watchdog })
  await under.until(() => under.account().watchdogs[id]?.step === 'watching')
  expect(under.account().watchdogs[id]?.request).toEqual(watchdog)
  const [create] = world.sim.controls.requests().filter(({ path }) => path.includes('/asks/'))
  expect(JSON.stringify(create)).not.toContain('watchdog')
})
