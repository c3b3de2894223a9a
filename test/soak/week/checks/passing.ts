import type { LoggedRequest } from '../../../../simulator/http/request-log.ts'
import type { Elsewhere } from '../elsewhere.ts'
import { claimed, doubles, recordsOnDisk, unclaimed } from './accounted.ts'

export interface Service {
  elsewhere: Elsewhere
  /** Instances that the service ever had. */
  everCreated: () => number
  /** Those that were rented in its console. */
  byHand: ReadonlySet<number>
  /** Oldest first. */
  requests: () => readonly LoggedRequest[]
  /** When and after which poll that is, in words. */
  where: () => string
}

/** What a poll found that must go. */
interface Found {
  why: string
  /** Which instances it is about. */
  ids: readonly number[]
}

/**
 * What may be there for a moment only: two instances for one request, and one that no request has or is still after. After
 * each of Berth's polls what the service has is held to what Berth has on disk. The poll that finds it has it destroyed:
 * a further one may find it only where a fault befell that.
 */
export class Passing {
  readonly broken: string[] = []
  /** Instances that a rental has, or had once. */
  readonly claimed = new Set<number>()
  /** The most fresh polls that any of it has outlived. */
  longest = 0
  readonly #service: Service
  readonly #folder: string
  /** How many polls have found it, and how many requests there were when the first did. */
  readonly #polls = new Map<string, { polls: number; since: number }>()
  #known = 0
  #isSuspicious = false

  constructor(service: Service, folder: string) {
    this.#service = service
    this.#folder = folder
  }

  /** After a fresh poll, and what followed from it at once. Only with a new instance there can be anything new. */
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
