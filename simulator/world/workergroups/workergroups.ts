import type { WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'

/** The fields of a workergroup, defaults included, section 2.9. */
export interface WorkergroupContent {
  endpoint_name: string | null
  endpoint_id: number
  template_hash: string | null
  template_id: number | null
  search_params: string
  launch_args: string
  min_load: number
  target_util: number | null
}

/** `created` in world milliseconds. */
export interface Workergroup extends WorkergroupContent {
  readonly id: number
  readonly created: number
}

/** The account's workergroups. No worker is ever rented for them. */
export class Workergroups {
  readonly #clock: WorldClock
  readonly #all: Workergroup[] = []
  readonly #endpoints = new Map<string, number>()
  readonly #firstId: number

  constructor(seed: number, clock: WorldClock) {
    this.#clock = clock
    this.#firstId = new Draw(seed, 'workergroup ids').integer(1000, 9000)
  }

  /** Oldest first. */
  list(): readonly Workergroup[] {
    return this.#all
  }

  create(content: WorkergroupContent): Workergroup {
    const group = { ...content, id: this.#firstId + this.#all.length, created: this.#clock.now() }
    this.#all.push(group)
    return group
  }

  /** The id of the endpoint of that name, which is made if missing; without a name a new one. */
  endpoint(name: string | undefined): number {
    const known = name === undefined ? undefined : this.#endpoints.get(name)
    if (known !== undefined) return known
    const id = this.#firstId * 10 + this.#endpoints.size
    this.#endpoints.set(name ?? `endpoint ${id}`, id)
    return id
  }
}
