import { describe, expect } from 'vitest'
import type { FaultInput } from '#simulator/http/faults.ts'
import {
  codeOf,
  instancesOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
  requestCheapest,
} from '#test/berth/steps.ts'
import type { BerthUnderTest } from '#test/berth/world.ts'
import { test } from '#test/berth/world.ts'

const errors = ({ berth }: BerthUnderTest) =>
  Object.values(berth.state().activity).filter(({ kind }) => kind === 'error')

test.concurrent('a key that may not read instances keeps them as last seen and says so', async ({
  connected,
}) => {
  const { world, under } = await connected()
  const { id } = await rentRunning(under)
  const entries = world.keychain.entries.size
  world.sim.controls.setFaults([{ path: '/instances/$', kind: 'status', status: 403 }])
  await under.run('refresh', {})
  expect(under.account()).toMatchObject({ connection: { status: 'online' }, limitation: expect.any(String) })
  expect(instancesOf(under).map(instance => instance.id)).toEqual([id])
  expect(world.keychain.entries.size).toBe(entries)
  world.sim.controls.setFaults([])
  await under.run('refresh', {})
  expect(under.account().limitation).toBeUndefined()
})

describe.concurrent('a service that fails keeps the last state, marked as old, until it recovers', () => {
  test.for<[string, FaultInput, number | undefined]>([
    ['500', { kind: 'status', status: 500 }, 500],
    ['garbage', { kind: 'garbage' }, 200],
    ['hang', { kind: 'hang' }, undefined],
  ])('%s', async ([, rule, answered], { connected }) => {
    const { world, under } = await connected()
    const { id } = await rentRunning(under)
    const before = under.account()
    world.sim.controls.setFaults([rule])
    await under.until(() => under.account().connection.status === 'offline')
    const { connection, instances, credit } = under.account()
    expect(connection).toMatchObject({
      since: expect.any(Number),
      problem: {
        code: expect.any(String),
        message: expect.stringMatching(/\.$/),
        advice: expect.any(String),
      },
    })
    expect('answered' in connection ? connection.answered : undefined).toBe(answered)
    expect(Object.keys(instances)).toEqual([String(id)])
    expect(typeof credit).toBe(typeof before.credit)
    world.sim.controls.setFaults([])
    await under.run('refresh', {})
    expect(under.account().connection).toEqual({ status: 'online' })
    expect(errors(under)).toHaveLength(1)
  })
})

test.concurrent('a full disk is reported once per file, blocks renting, and ends nothing', async ({
  openWorld,
}) => {
  const world = await openWorld()
  world.sim.controls.setCredit(100)
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  let isFull = false
  const { files } = world.platform
  const effect = (write: () => Promise<void>) => (isFull ? Promise.reject(full) : write())
  const platform = {
    ...world.platform,
    files: {
      ...files,
      write: (name: string, text: string) => effect(() => files.write(name, text)),
      append: (name: string, text: string) => effect(() => files.append(name, text)),
    },
  }
  const under = await world.start({ platform })
  await under.run('connectAccount', { baseUrl: world.sim.baseUrl, key: world.sim.apiKey })
  await under.run('changeSettings', { settings: { pollInterval: 2 } })
  await rentCheapest(under)
  await under.until(() => rentalsOf(under)[0]?.step === 'waiting')

  isFull = true
  world.sim.controls.setCredit(1)
  await under.until(() => rentalsOf(under).length === 0)
  await under.poll(2)
  expect(world.notifier.shown.filter(({ id }) => id.endsWith('/credit'))).toHaveLength(1)
  expect(world.notifier.shown).toContainEqual(
    expect.objectContaining({ id: 'not-written', body: expect.stringContaining('the disk is full') }),
  )
  // Once per file: any poll may write the money's.
  const said = errors(under).map(({ text }) => text)
  expect(said).toContainEqual(expect.stringMatching(/rentals\.json couldn’t be saved: the disk is full/))
  expect(said.filter(text => !text.includes('the disk is full'))).toEqual([])
  expect(said).toHaveLength(new Set(said).size)
  const request = await requestCheapest(under)
  expect(await codeOf(under.run('rent', { request }))).toBe('not_written')
  expect(instancesOf(under)).toHaveLength(1)
  expect(rentalsOf(under)).toEqual([])
  await expect(under.run('changeSettings', { settings: { theme: 'dark' } })).rejects.toThrow()
  expect(under.berth.state().settings.theme).toBe('system')

  isFull = false
  await rentRunning(under)
  expect(instancesOf(under)).toHaveLength(2)
  await under.close()
})
