import type { LoggedRequest } from '../../../../simulator/http/request-log.ts'
import type { Elsewhere } from '../elsewhere.ts'
import { claimed, doubles, recordsOnDisk, unclaimed } from './accounted.ts'

export interface Service {
  elsewhere: Elsewhere
  /** The number of instances ever created. */
  everCreated: () => number
  /** Instances rented in the console. */
  byHand: ReadonlySet<number>
  /** Oldest first. */
  requests: () => readonly LoggedRequest[]
  /** Describes the current time and poll. */
  where: () => string
}

/** Instances found at a poll that must be destroyed. */
interface Found {
  why: string
  /** The ids of the instances. */
  ids: readonly number[]
}

/**
 * Checks that two instances of one request, or one that no request has or looks for, exist only briefly. After each
 * poll the service's instances are compared with Berth's disk. The poll that finds such an instance must destroy it;
 * later polls may find it only after a fault of that request.
 */
export class Passing {
  readonly broken: string[] = []
  /** Instances that a rental has or had. */
  readonly claimed = new Set<number>()
  /** The most fresh polls that found the same thing. */
  longest = 0
  readonly #service: Service
  readonly #folder: string
  /** By thing: the number of polls that found it, and of requests before the first. */
  readonly #polls = new Map<string, { polls: number; since: number }>()
  #known = 0
  #isSuspicious = false

  constructor(service: Service, folder: string) {
    this.#service = service
    this.#folder = folder
  }

  /** Call after a fresh poll and its immediate effects. Only a new instance can bring new findings. */
  async polled(): Promise<void> {
    const { elsewhere, everCreated, byHand } = this.#service
    const created = everCreated()
    if (!this.#isSuspicious && created === this.#known) return
    this.#known = created
    const [there, records] = [elsewhere.instances(), await recordsOnDisk(this.#folder)]
    for (const id of claimed(records)) this.claimed.add(id)
    const ours = there.filter(({ id }) => !byHand.has(id) && !this.claimed.has(id))
    const found = new Map<string, Found>([
      ...[...unclaimed(ours, records)].map(([id, why]) => [`#${id}`, { why, ids: [id] }] as const),
      ...[...doubles(there, records)].map(
        ([owner, ids]) => [owner, { why: `has ${ids.join(' and ')}`, ids }] as const,
      ),
    ])
    this.#isSuspicious = found.size > 0 || ours.length > 0
    for (const what of this.#polls.keys()) if (!found.has(what)) this.#polls.delete(what)
    for (const [what, one] of found) this.#foundAgain(what, one)
  }

  #foundAgain(what: string, { why, ids }: Found): void {
    const requests = this.#service.requests()
    const { polls, since } = this.#polls.get(what) ?? { polls: 0, since: requests.length }
    this.#polls.set(what, { polls: polls + 1, since })
    this.longest = Math.max(this.longest, polls + 1)
    const paths = new Set(ids.map(id => `/api/v0/instances/${id}/`))
    const thwarted = requests
      .slice(since)
      .filter(
        ({ method, path, status, fault }) =>
          method === 'DELETE' && (fault !== null || status === 429) && paths.has(path),
      )
    if (polls === thwarted.length + 1)
      this.broken.push(`${this.#service.where()}: ${what} ${why}, found by ${polls + 1} polls`)
  }
}
