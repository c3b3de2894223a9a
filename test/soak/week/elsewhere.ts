import type { Simulator } from '../../../simulator/simulator.ts'

/** An instance in the service's own records. */
export interface ServiceInstance {
  id: number
  actual_status: string | null
  label: string
  extra_env: [string, string][]
  /** The time of its creation, in epoch seconds. */
  start_date: number
}

/**
 * Requests to the service from elsewhere, such as the console. Their paths lack the final slash, which separates them
 * from Berth's in the log and excludes them from faults.
 */
export class Elsewhere {
  readonly #sim: Simulator
  #underWay = 0

  constructor(sim: Simulator) {
    this.#sim = sim
  }

  /** The number of pending requests. */
  get underWay(): number {
    return this.#underWay
  }

  /** All existing instances, whatever the deployment tells Berth. */
  instances(): ServiceInstance[] {
    return this.#sim.controls.instances() as unknown as ServiceInstance[]
  }

  async destroy(instance: number): Promise<void> {
    await this.#ask('DELETE', `/instances/${instance}`)
  }

  async stop(instance: number): Promise<void> {
    await this.#ask('PUT', `/instances/${instance}`, { state: 'stopped' })
  }

  /** Rents an instance that Berth does not know. */
  async rent(offer: number): Promise<number | undefined> {
    const answer = await this.#ask('PUT', `/asks/${offer}`, { image: 'ubuntu', disk: 10, label: 'by hand' })
    return (answer as { new_contract?: number }).new_contract
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    this.#underWay += 1
    try {
      const answer = await fetch(`${this.#sim.baseUrl}/api/v0${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#sim.apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      // A rate limited request is refused in plain text.
      return answer.ok ? await answer.json() : {}
    } finally {
      this.#underWay -= 1
    }
  }
}
