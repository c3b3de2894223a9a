import { createServer } from 'node:http'
import type { TestContext } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { listen } from '#test/loopback.ts'
import { json, type Reply, ScriptedService, type Seen } from '#test/unit/service/scripted-service.ts'
import { type BerthUnderTest, createWorld } from './world.ts'

/** A service of no more than the interface names (sections 2.1, 2.2, 4.1 and 4.2), and this machine's own time. */
export class BareService {
  /** The user object; what of it is undefined is left out. */
  user: Record<string, unknown> = {
    id: 7,
    email: 'a@b.example',
    credit: 10,
    ssh_key: '',
    tfa_status: 'disabled',
  }
  /** The ids of the machines on offer, and the instances by id with their status. */
  offers: number[] = []
  readonly instances = new Map<number, string>()
  /** Awaited before each answer to a request that changes nothing. */
  held: Promise<void> | undefined
  /** What the records of all instances tell beyond the interface. */
  facts: Record<string, unknown> = {}
  /** Ids of instances that were stopped and destroyed, and of offers that were rented, in that order. */
  readonly stopped: number[] = []
  readonly destroyed: number[] = []
  readonly rented: number[] = []

  /** What it answers, `undefined` for a path that it has not. */
  answer(method: string, path: string): unknown {
    const id = Number(path.split('/').at(-2))
    if (path === '/api/v0/users/current/') return this.user
    if (path === '/api/v0/bundles/') return { offers: this.offers.map(offer => ({ id: offer })) }
    if (path === '/api/v0/instances/')
      return { instances_found: this.instances.size, instances: this.#records() }
    if (path.startsWith('/api/v0/asks/')) {
      const instance = 1000 + id
      this.rented.push(id)
      this.instances.set(instance, 'running')
      return { success: true, new_contract: instance, instance_api_key: 'k' }
    }
    if (!/^\/api\/v0\/instances\/\d+\/$/.test(path)) return undefined
    if (method === 'GET') return { instances: this.#records().find(one => one.id === id) ?? null }
    if (method === 'PUT') {
      this.stopped.push(id)
      this.instances.set(id, 'stopped')
    }
    if (method === 'DELETE') {
      this.destroyed.push(id)
      this.instances.delete(id)
    }
    return { success: true }
  }

  #records() {
    return [...this.instances].map(([id, actual_status]) => ({
      id,
      actual_status,
      ssh_host: '127.0.0.1',
      ssh_port: 9,
      ...this.facts,
    }))
  }
}

/** Starts it on loopback. */
export async function startBareService(): Promise<{
  service: BareService
  baseUrl: string
  close(): void
}> {
  const service = new BareService()
  const server = createServer(async ({ method = 'GET', url = '' }, response) => {
    if (method === 'GET') await service.held
    const body = service.answer(method, new URL(url, 'http://localhost').pathname)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { success: false, error: 'not_found' }))
  })
  const port = await listen(server)
  return {
    service,
    baseUrl: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Berth, connected to a service of the bare interface. */
export async function startOnBareService(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  user: Record<string, unknown> = {},
): Promise<{ service: BareService; home: string; under: BerthUnderTest; start(): Promise<BerthUnderTest> }> {
  const { service, baseUrl, close } = await startBareService()
  service.user = { ...service.user, ...user }
  const world = await createWorld()
  world.platform.clock = { ...systemClock }
  onTestFinished(async () => {
    await world.close()
    close()
  })
  const under = await world.start()
  await under.run('connectAccount', { baseUrl, key: 'some-key' })
  return { service, home: world.platform.home, under, start: () => world.start() }
}

/** The service as its document has it, and nothing more: an instance has the fields of section 2.1 alone. */
interface LiteralService {
  baseUrl: string
  /** Each instance's `actual_status`, by id. */
  statuses: Map<number, string | null>
  close(): Promise<void>
}

/** A stop shows as `exited`, which section 3.1 leaves open. */
export async function startLiteralService(...running: number[]): Promise<LiteralService> {
  const service = await ScriptedService.start()
  const statuses = new Map<number, string | null>(running.map(id => [id, 'running']))
  const record = (id: number) => ({
    id,
    actual_status: statuses.get(id),
    ssh_host: 'ssh.gpu.example',
    ssh_port: 20_000 + id,
  })
  const answer = ({ method, url, body }: Seen): Reply => {
    if (method === 'GET' && url === '/api/v0/users/current/')
      return json({ id: 1, email: 'me@gpu.example', credit: 20, ssh_key: '', tfa_status: 'disabled' })
    if (method === 'GET' && url === '/api/v0/instances/')
      return json({ instances_found: statuses.size, instances: [...statuses.keys()].map(record) })
    const id = Number(/^\/api\/v0\/instances\/(\d+)\/$/.exec(url)?.[1])
    if (!statuses.has(id)) return json({ success: false, error: 'not_found', msg: 'not found' }, 404)
    if (method === 'GET') return json({ instances: record(id) })
    const { state } = JSON.parse(body) as { state: string }
    statuses.set(id, state === 'stopped' ? 'exited' : state)
    return json({ success: true })
  }
  service.otherwise = (seen, response, raw) => answer(seen)(seen, response, raw)
  return { baseUrl: service.baseUrl, statuses, close: () => service.stop() }
}
