import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import '#test/built.ts'
import { expect, onTestFinished, test } from 'vitest'
import { at } from '#build/places.ts'
import { newSpender, type SpenderForm } from '#shared/spending/spender.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'
import { write } from '../core/projects/place.ts'
import { openSocket } from './cli.ts'

type Answered = Record<string, unknown> & { error?: { code: string; refusal?: { limit: string } } }

/** A session of the SDK's own client with the built `berth mcp`, on a connected Berth with a project. */
async function session(given: Partial<SpenderForm>) {
  const world = await createWorld({ speed: 600 })
  onTestFinished(() => world.close())
  const folder = join(world.platform.home, 'code', 'digits')
  write(folder, { 'berth.yaml': 'name: digits\nrun: echo 5\nstop: { hours: 1, dollars: 2 }\n' })
  const under = await world.startConnected()
  const { home } = await openSocket(world, under.berth)
  await under.berth.registerProject(folder)
  const permit = (form: Partial<SpenderForm>) =>
    under.run('changeSettings', {
      settings: { spenders: [{ ...newSpender, kind: 'agent', name: 'claude', ...form }] },
    })
  await permit(given)
  const client = new Client({ name: 'test', version: '1' })
  const args = [at('dist/main/cli.js'), 'mcp', '--as', 'claude', '--no-start']
  const env = { ...getDefaultEnvironment(), BERTH_HOME: home }
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
  onTestFinished(() => client.close())
  await client.connect(transport)
  async function call(name: string, given: Record<string, unknown> = {}): Promise<Answered> {
    const { structuredContent } = await client.callTool({ name, arguments: given })
    return structuredContent as Answered
  }
  return { under, client, permit, call }
}

async function cheapest(call: Awaited<ReturnType<typeof session>>['call']) {
  const found = await call('search_offers', { gpus: 1 })
  const [cheap] = found['offers'] as { offer: number; pricePerHour: number }[]
  return cheap ?? { offer: 0, pricePerHour: 0 }
}

test('an agent’s session looks, plans, runs a project, rents, and is refused at each cap', async () => {
  const { under, client, permit, call } = await session({ may: 'see' })
  const mine = (await rentRunning(under)).id
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'list_instances',
    'search_offers',
    'plan_project',
    'run_project',
    'run_output',
    'cancel_run',
    'rent',
    'stop',
    'destroy',
    'spend',
  ])
  expect(await call('list_instances')).toMatchObject({ instances: [{ id: mine, yours: false }] })
  const { offer, pricePerHour } = await cheapest(call)
  expect(await call('plan_project', { project: 'digits' })).toMatchObject({
    command: 'echo 5',
    costsAtMost: expect.any(Number),
  })
  for (const [name, args] of [
    ['rent', { offer, hours: 1 }],
    ['run_project', { project: 'digits' }],
    ['destroy', { instance: mine }],
  ] as const)
    expect((await call(name, args)).error?.refusal?.limit, name).toBe('permission')

  const caps = { may: 'run', machines: 1, price: 5, perHour: 5, perDay: 100 } as const
  const refusedAt = async (form: Partial<SpenderForm>) => {
    await permit({ ...caps, ...form })
    return (await call('rent', { offer, hours: 1 })).error?.refusal?.limit
  }
  expect(await refusedAt({ price: pricePerHour / 2 })).toBe('price')
  expect(await refusedAt({ perHour: pricePerHour / 2 })).toBe('hour')
  // At half a price, a late evening would have room: a day's cap counts only what is spent until midnight.
  expect(await refusedAt({ perDay: 0 })).toBe('day')
  expect(await refusedAt({ machines: 0 })).toBe('machines')
  expect((await call('destroy', { instance: mine })).error?.refusal?.limit).toBe('ownership')
  expect((await call('rent', { offer: 'all', hours: 1 })).error?.code).toBe('invalid_argument')

  await permit(caps)
  const { run } = await call('run_project', { project: 'digits' })
  expect(run).toMatch(/^x/)
  expect(await call('run_output', { run })).toMatchObject({ run, step: expect.any(String) })
  await under.until(() => (under.account().spenders?.['agent:claude']?.machines ?? 0) === 1)
  expect((await call('rent', { offer, hours: 1 })).error?.refusal?.limit).toBe('machines')
  expect(await call('spend')).toMatchObject({
    name: 'claude',
    caps: { machines: 1 },
    used: { machines: 1 },
    left: { machines: 0 },
    everything: {
      caps: { perHour: null, machines: null },
      used: null,
      left: { perHour: null, machines: null },
    },
  })
  await under.run('changeSettings', { settings: { everything: { perHour: null, machines: 5 } } })
  await under.until(() => under.account().everything !== undefined)
  expect(await call('spend')).toMatchObject({
    everything: { caps: { machines: 5 }, used: { machines: 2 }, left: { perHour: null, machines: 3 } },
  })
  expect(await call('cancel_run', { run })).toEqual({ cancelled: run })
  await under.until(() => (under.account().spenders?.['agent:claude']?.machines ?? 0) === 0)
  expect(Object.keys(under.account().instances)).toEqual([String(mine)])

  // It asks for a hundred machines at once, and a page told it to destroy everything.
  const cheap = (await cheapest(call)).offer
  const hundred = await Promise.all(
    Array.from({ length: 100 }, () => call('rent', { offer: cheap, hours: 72 })),
  )
  expect(hundred.filter(({ rental }) => rental !== undefined)).toHaveLength(1)
  for (const { error } of hundred) if (error) expect(error.refusal?.limit, error.code).toBe('machines')
  expect((await call('destroy', { instance: mine })).error?.refusal?.limit).toBe('ownership')
  await under.until(() => (under.account().spenders?.['agent:claude']?.instances.length ?? 0) === 1)
  const [theirs = 0] = under.account().spenders?.['agent:claude']?.instances ?? []
  expect(await under.run('stopAgents', {})).toMatchObject({ failed: [] })
  await under.until(() => (under.account().instances[theirs]?.state ?? 'stopped') === 'stopped')
  expect(under.account().instances[mine]?.state).toBe('running')
  expect((await call('rent', { offer, hours: 1 })).error?.refusal?.limit).toBe('permission')

  await permit({ may: 'nothing' })
  const off = (await call('list_instances')).error
  expect(off?.refusal?.limit).toBe('permission')
})
