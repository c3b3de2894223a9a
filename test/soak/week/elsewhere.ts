import type { Simulator } from '../../../simulator/simulator.ts'

/** An instance as the service itself tells it. */
export interface ServiceInstance {
  id: number
  actual_status: string | null
  label: string
  extra_env: [string, string][]
  /** When it was created, epoch seconds. */
  start_date: number
}

/**
 * The service, asked by something other than Berth: the console, another machine. Its paths have no slash at the end,
 * by which the log tells it from Berth and the faults leave it alone.
 */
export class Elsewhere {
  readonly #sim: Simulator
  #underWay = 0

  constructor(sim: Simulator) {
    this.#sim = sim
  }

  /** How many questions have no answer yet. */
  get underWay(): number {
    return this.#underWay
  }

  /** All that there are, whatever Berth is told of them. */
  instances(): ServiceInstance[] {
    return this.#sim.controls.instances() as unknown as ServiceInstance[]
  }

  async destroy(instance: number): Promise<void> {
    await this.#ask('DELETE', `/instances/${instance}`)
  }

  async stop(instance: number): Promise<void> {
    await this.#ask('PUT', `/instances/${instance}`, { state: 'stopped' })
  }

  /** An instance that no Berth knows of. */
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
      // What comes too often is refused with words.
      return answer.ok ? await answer.json() : {}
    } finally {
      this.#underWay -= 1
    }
  }
}
