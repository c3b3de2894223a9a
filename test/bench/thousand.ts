import { createServer, type Server } from 'node:http'
import { listen } from '#test/loopback.ts'

/** A service that only sends 1,000 instances of 60 fields, as a busy account has them. */
export interface Thousand {
  baseUrl: string
  /** Changes `count` of them for the next answer. */
  change(count: number): void
  body(): string
  close(): Promise<void>
}

const fields = Array.from({ length: 24 }, (_, index) => `further_field_${index}`)

function record(index: number, changes: number): Record<string, unknown> {
  return {
    id: 100_000 + index,
    machine_id: 2000 + index,
    host_id: 300 + (index % 50),
    label: `training-${index}`,
    actual_status: 'running',
    cur_state: 'running',
    next_state: 'running',
    intended_status: 'running',
    status_msg: 'success, running pytorch/pytorch',
    is_bid: index % 3 === 0,
    min_bid: 0.3,
    dph_base: 0.41,
    dph_total: 0.412,
    storage_cost: 0.15,
    gpu_name: 'RTX 4090',
    num_gpus: 1 + (index % 4),
    gpu_ram: 24_564,
    gpu_util: (index + changes) % 100,
    gpu_temp: 61,
    cpu_util: 12.5,
    mem_usage: 14.2,
    mem_limit: 64,
    disk_space: 40,
    disk_usage: 11.1,
    image_uuid: 'pytorch/pytorch:latest',
    image_runtype: 'ssh',
    onstart: '',
    extra_env: [['BERTH_RENTAL', 'none']],
    public_ipaddr: '203.0.113.7',
    ports: { '22/tcp': [{ HostIp: '0.0.0.0', HostPort: String(40_000 + index) }] },
    ssh_host: 'ssh5.example.com',
    ssh_port: 10_000 + index,
    start_date: 1_790_000_000,
    inet_up: 512.4,
    inet_down: 811.2,
    geolocation: 'Sweden, SE',
    reliability2: 0.9931,
    ...Object.fromEntries(fields.map((name, at) => [name, at % 2 === 0 ? index * 31 + at : `value ${at}`])),
  }
}

export async function startThousand(count = 1000): Promise<Thousand> {
  const changes = Array.from({ length: count }, () => 0)
  let text = render()

  function render(): string {
    const instances = changes.map((times, index) => record(index, times))
    return JSON.stringify({ instances_found: instances.length, instances })
  }

  const server: Server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    // As in the interface: one list, without an interval between requests.
    if (request.url?.startsWith('/api/v1/')) response.writeHead(404).end('{}')
    else if (request.url?.startsWith('/api/v0/users/current/'))
      response.end(
        JSON.stringify({
          id: 7,
          email: 'user@example.com',
          credit: 5000,
          ssh_key: '',
          tfa_status: 'disabled',
        }),
      )
    else response.end(text)
  })
  const port = await listen(server)

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    change(some) {
      for (let index = 0; index < some; index += 1) changes[index] = (changes[index] ?? 0) + 1
      text = render()
    },
    body: () => text,
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
