import type { InstanceView } from '../../../../../electron/contract/instance/instance.ts'
import type { ServiceClient } from '../../../../../electron/service/client.ts'
import type { Instance } from '../../../../../electron/service/instances.ts'
import type { NewInstance, OfferSearch } from '../../../../../electron/service/offers.ts'
import { ServiceError } from '../../../../../electron/service/service-error.ts'
import { instanceView } from '../../../views.ts'

/** What happens to an instance on a machine. */
export type Fate = 'good' | 'exited' | 'offline' | 'unknown' | 'stuck' | 'shut' | 'gone' | 'outbid'

/** The fault of the next request of a kind. `lost`: it takes effect, but its answer is lost. */
export type Fault = 'lost' | 'unanswered' | 'late'

interface Rented {
  id: number
  fate: Fate
  label: string
  /** How often it was polled: its fate shows from the second poll on. */
  polls: number
  /** Seconds of the world's time. */
  createdAt: number
}

/** Micro-dollars per second that any instance costs, from its creation until it is destroyed. */
export const perSecond = 100

const ambiguous = () =>
  new ServiceError({ code: 'connection_lost', status: 0, message: 'lost', advice: '', ambiguous: true })
const gone = (code: 'refused' | 'no_such_instance') =>
  new ServiceError({ code, status: 404, message: 'gone', advice: '' })

const words: Record<Fate, { state: InstanceView['state']; status: string }> = {
  good: { state: 'running', status: 'running' },
  shut: { state: 'running', status: 'running' },
  exited: { state: 'crashed', status: 'exited' },
  offline: { state: 'offline', status: 'offline' },
  unknown: { state: 'silent', status: 'unknown' },
  stuck: { state: 'loading', status: 'loading' },
  gone: { state: 'loading', status: 'loading' },
  outbid: { state: 'outbid', status: 'stopped' },
}

/** A minimal service: one machine for each fate, the cheapest first. It outlives each process of Berth. */
export class PlainWorld {
  readonly rented = new Map<number, Rented>()
  /** Instances that others have on the account. */
  readonly strangers = new Set<number>([1])
  readonly faults: { create: Fault[]; destroy: Fault[]; search: Fault[] } = {
    create: [],
    destroy: [],
    search: [],
  }
  /** Actions that must never happen. */
  readonly wrongs: string[] = []
  /** Micro-dollars that destroyed instances cost. */
  paid = 0
  readonly #fates: readonly Fate[]
  /** Its own time in seconds, independent of Berth’s clocks. */
  readonly #time: () => number
  readonly #late: Rented[] = []
  /** Create requests, by label. */
  readonly #asked = new Map<string, number>()
  #nextId = 100

  constructor(fates: readonly Fate[], time: () => number) {
    this.#fates = fates
    this.#time = time
  }

  /** What a poll shows at `now` in Berth’s time; each poll takes all instances a step further. */
  poll(now: number): { instances: Record<string, InstanceView>; records: Instance[] } {
    for (const instance of this.#late.splice(0)) this.rented.set(instance.id, instance)
    for (const each of this.rented.values()) each.polls += 1
    const views = [...this.rented.values()].map(rented => {
      const { state, status } = rented.polls > 1 ? words[rented.fate] : words.stuck
      const spent = { micros: this.#costOf(rented), at: now, perHour: perSecond * 3600 }
      return instanceView({ id: rented.id, state, actualStatus: status, spent })
    })
    const strangers = [...this.strangers].map(id => instanceView({ id }))
    return {
      instances: Object.fromEntries([...views, ...strangers].map(view => [view.id, view])),
      records: this.#records(),
    }
  }

  probeSsh({ id }: InstanceView): Promise<void> {
    return this.rented.get(id)?.fate === 'good' ? Promise.resolve() : Promise.reject(new Error('shut'))
  }

  /** A client for one process of Berth, which gets no more answers once `dead`. */
  client(dead: AbortSignal): ServiceClient {
    const hear = async <Answer>(answer: () => Answer): Promise<Answer> => {
      await Promise.resolve()
      if (dead.aborted) return new Promise(() => undefined)
      return answer()
    }
    const fail = (error: Error) => () => {
      throw error
    }
    const client = {
      offers: {
        search: (_: OfferSearch) =>
          hear(
            this.faults.search.shift()
              ? fail(ambiguous())
              : () =>
                  this.#fates.map((_fate, at) => ({
                    id: 10 + at,
                    machine_id: 500 + at,
                    dph_total: 0.1 + at / 100,
                  })),
          ),
        createInstance: (offer: number, body: NewInstance) => {
          if (dead.aborted) return new Promise(() => undefined)
          const fate = this.#fates[offer - 10] ?? 'gone'
          const asked = (this.#asked.get(body.label ?? '') ?? 0) + 1
          this.#asked.set(body.label ?? '', asked)
          // The third request is answered: the model does not cover rentals that never are.
          const fault = asked < 3 ? this.faults.create.shift() : undefined
          if (fault === 'unanswered') return hear(fail(ambiguous()))
          if (fate === 'gone') return hear(fail(gone('refused')))
          const id = this.#create(fate, body.label ?? '', fault === 'late')
          return fault ? hear(fail(ambiguous())) : hear(() => ({ new_contract: id }))
        },
      },
      instances: {
        list: () => hear(() => ({ instances: this.#records(), unread: [], cutShort: undefined })),
        destroy: (id: number) => {
          if (dead.aborted) return new Promise(() => undefined)
          const fault = this.faults.destroy.shift()
          if (fault === 'unanswered') return hear(fail(ambiguous()))
          if (this.strangers.has(id)) this.wrongs.push(`destroyed a stranger's #${id}`)
          const rented = this.rented.get(id)
          if (!rented) return hear(fail(gone('no_such_instance')))
          this.paid += this.#costOf(rented)
          this.rented.delete(id)
          return hear(fault ? fail(ambiguous()) : () => undefined)
        },
      },
    }
    return client as unknown as ServiceClient
  }

  #create(fate: Fate, label: string, late: boolean): number {
    const mark = /berth:(r\w+)/.exec(label)?.[1]
    const others = [...this.rented.values()].filter(each => !each.label.includes(mark ?? '?'))
    if (others.length > 0) this.wrongs.push(`rented beside ${others.map(({ id }) => id).join()}`)
    const instance = { id: this.#nextId++, fate, label, polls: 0, createdAt: this.#time() }
    if (late) this.#late.push(instance)
    else this.rented.set(instance.id, instance)
    return instance.id
  }

  #costOf({ createdAt }: Rented): number {
    return Math.floor((this.#time() - createdAt) * perSecond)
  }

  #records(): Instance[] {
    const own = [...this.rented.values()].map(({ id, label }) => ({ id, label, actual_status: 'loading' }))
    return [
      ...own,
      ...[...this.strangers].map(id => ({ id, label: 'berth:rffffffffffffffff', actual_status: 'running' })),
    ]
  }
}
