import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import '#test/built.ts'
import { expect, onTestFinished, test } from 'vitest'
import { at } from '#build/places.ts'
import { newSpender, type Spender, spenderOf } from '#shared/spending/spender.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'
import { write } from '../core/projects/place.ts'
import { openSocket } from './cli.ts'

/** How long five agents call at once; longer in a soak. */
const seconds = Number(process.env['BERTH_SESSION_SECONDS'] ?? 2)
const names = ['ada', 'bob', 'cyd', 'dan', 'eve']
/** Dollars, and machines. */
const caps = { perDay: 6, perHour: 1.5, machines: 3, price: 1 }

type Answered = Record<string, unknown> & { error?: { code: string; refusal?: { limit?: string } } }

test(`five agents at once, over the socket, stay within their caps and end only what they rented`, {
  timeout: 60_000 + 1000 * seconds,
}, async () => {
  const world = await createWorld({ speed: 60, limits: false })
  onTestFinished(() => world.close())
  const folder = join(world.platform.home, 'code', 'digits')
  write(folder, { 'berth.yaml': 'name: digits\nrun: echo 5\nstop: { hours: 1, dollars: 2 }\n' })
  const under = await world.startConnected()
  world.sim.controls.setCredit(10_000)
  const { home } = await openSocket(world, under.berth)
  await under.berth.registerProject(folder)
  const mine = (await rentRunning(under)).id
  const spenders = names.map(name => ({
    ...newSpender,
    ...({ kind: 'agent', may: 'run', name } as const),
    ...caps,
  }))
  await under.run('changeSettings', { settings: { spenders } })

  const clients = await Promise.all(names.map(name => sessionOf(name, home)))
  const most = { machines: 0, perHour: 0, today: 0 }
  under.berth.onChange(() => {
    for (const name of names) {
      const used = under.account().spenders?.[spenderOf('agent', name) as Spender]
      for (const cap of ['machines', 'perHour', 'today'] as const)
        most[cap] = Math.max(most[cap], used?.[cap] ?? 0)
    }
  })
  const tally = new Map<string, number>()
  const draw = drawing(51)
  let offers: { offer: number }[] = []
  const until = performance.now() + 1000 * seconds

  async function call(client: Client, name: string, given: Record<string, unknown>): Promise<void> {
    const { structuredContent } = await client.callTool({ name, arguments: given })
    const answer = structuredContent as Answered
    if (Array.isArray(answer['offers'])) offers = answer['offers']
    const { code = 'done', refusal } = answer.error ?? {}
    const how = [name, code, refusal?.limit].filter(Boolean).join(' ')
    tally.set(how, (tally.get(how) ?? 0) + 1)
    if (code === 'over_cap' || code === 'not_permitted') expect(refusal?.limit).toBeTruthy()
  }
  async function attack(client: Client): Promise<void> {
    await call(client, 'search_offers', {})
    while (performance.now() < until) {
      const ids = Object.keys(under.account().instances).map(Number)
      const drawn = draw.one(ids) ?? mine
      const hours = draw.one([0.1, 1, 168])
      const disk = draw.one([20, 20, 9000])
      const [name, given] = draw.one<[string, Record<string, unknown>]>([
        ['rent', { offer: draw.one(offers)?.offer ?? 1, hours, disk }],
        ['rent', { offer: draw.one(offers)?.offer ?? 1, hours, disk }],
        ['rent', { offer: -1, hours: 'for ever' }],
        ['run_project', { project: 'digits' }],
        ['destroy', { instance: drawn }],
        ['destroy', { instance: mine }],
        ['stop', { instance: drawn }],
        ['list_instances', {}],
        ['search_offers', {}],
      ]) ?? ['spend', {}]
      await Promise.all(Array.from({ length: draw.one([1, 1, 1, 8]) ?? 1 }, () => call(client, name, given)))
    }
  }
  await Promise.all(clients.flatMap(client => [attack(client), attack(client)]))
  if (seconds > 10) console.log(Object.fromEntries(tally), most, world.requests('PUT', 'asks').length)

  expect(most.machines).toBeLessThanOrEqual(caps.machines)
  expect(most.perHour).toBeLessThanOrEqual(caps.perHour * 1_000_000)
  expect(most.today).toBeLessThanOrEqual(caps.perDay * 1_000_000)
  expect(tally.get('rent done')).toBeGreaterThan(0)
  expect(tally.get('destroy not_permitted ownership')).toBeGreaterThan(0)
  expect(under.account().instances[mine]?.state).toBe('running')
  await under.run('stopAgents', {})
  await under.until(() => {
    const others = Object.values(under.account().instances).filter(({ id }) => id !== mine)
    return others.every(({ state }) => state !== 'running')
  }, 30_000)
  expect(under.account().instances[mine]?.state).toBe('running')
})

/** A session of the SDK's own client with the built `berth mcp`. */
async function sessionOf(name: string, home: string): Promise<Client> {
  const client = new Client({ name, version: '1' })
  const args = [at('dist/main/cli.js'), 'mcp', '--as', name, '--no-start']
  const env = { ...getDefaultEnvironment(), BERTH_HOME: home }
  onTestFinished(() => client.close())
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }))
  return client
}

/** The same draws each time, as far as the order of the answers is. */
function drawing(seed: number) {
  let state = seed
  return {
    one<Item>(items: readonly Item[]): Item | undefined {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return items[Math.floor((state / 2_147_483_648) * items.length)]
    },
  }
}
