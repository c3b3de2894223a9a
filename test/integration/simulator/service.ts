import { type Simulator, type SimulatorOptions, startSimulator } from '#simulator/simulator.ts'

/** An answer with its parsed body, which tests check with toMatchObject. */
export interface Answered {
  status: number
  date: Date
  body: Record<string, unknown>
}

/** Requests of each test that generates them. */
export const generated = Number(process.env['BERTH_REQUESTS'] ?? 200)

/** A simulator and a plain HTTP client for it that shares no code with Berth's. */
export interface Service {
  sim: Simulator
  call(method: string, path: string, body?: unknown, key?: string | null): Promise<Answered>
  /** Searches offers, the cheapest first. */
  offers(filters?: Record<string, unknown>): Promise<Offer[]>
  /** Rents an offer (or the cheapest); gives the instance's id and key. */
  rent(body?: Record<string, unknown>, offer?: Offer): Promise<{ id: number; key: string }>
  instance(id: number): Promise<Record<string, unknown>>
}

export interface Offer {
  id: number
  machine_id: number
  gpu_name: string
  num_gpus: number
  dph_base: number
  dph_total: number
  min_bid: number
  storage_cost: number
  disk_space: number
  rentable: boolean
  is_bid: boolean
}

/** By default world time moves only by `advance`. */
export async function startService(options: SimulatorOptions = {}): Promise<Service> {
  const sim = await startSimulator({ speed: 0.001, calm: true, limits: false, ...options })
  const call: Service['call'] = async (method, path, body, key = sim.apiKey) => {
    const response = await fetch(sim.baseUrl + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return {
      status: response.status,
      date: new Date(response.headers.get('date') ?? Number.NaN),
      body: (await response.json()) as Record<string, unknown>,
    }
  }
  const offers: Service['offers'] = async filters => {
    const answer = await call('POST', '/api/v0/bundles/', { order: [['dph_total', 'asc']], ...filters })
    return answer.body['offers'] as Offer[]
  }
  return {
    sim,
    call,
    offers,
    async rent(body, offer) {
      const [cheapest] = offer ? [offer] : await offers({ limit: 1 })
      const answer = await call('PUT', `/api/v0/asks/${cheapest?.id}/`, {
        image: 'ubuntu',
        disk: 10,
        ...body,
      })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return { id: answer.body['new_contract'] as number, key: answer.body['instance_api_key'] as string }
    },
    async instance(id) {
      const answer = await call('GET', `/api/v0/instances/${id}/`)
      return answer.body['instances'] as Record<string, unknown>
    },
  }
}
