import { json, type Reply, ScriptedService, type Seen } from '#test/unit/service/scripted-service.ts'

/** The service as its document has it, and nothing more: an instance has the fields of section 2.1 alone. */
export interface LiteralService {
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
