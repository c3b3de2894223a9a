import type { ServiceClient } from '../../../../electron/service/client.ts'
import type { Instance } from '../../../../electron/service/instances.ts'
import type { NewInstance, Offer } from '../../../../electron/service/offers.ts'
import { lost, refused } from './errors.ts'
import type { Turns } from './turns.ts'

/** Where an instance ends up once it has booted; one that is shut runs, but SSH does not answer. */
export type Fate = 'good' | 'shut' | 'stuck' | 'exited' | 'offline' | 'unknown' | 'outbid' | 'stopped'

/** What befalls the next request of a kind; in `late`, the seconds until it takes effect, unheard. */
export type Fault = 'lost' | 'unanswered' | 'busy' | { late: number }

/** What the records say of labels and environments, which no service has to show. */
export type Shows = 'label' | 'env' | 'both' | 'nothing'

/** An instance as the service has it in its own records, marks that it does not show included. */
export interface Held {
  readonly id: number
  /** Which Berth asked for it; others have their own names. */
  readonly by: string
  readonly mark: string | undefined
  readonly body: NewInstance
  readonly machine: number
  /** Seconds of the service's time; one that is still to come is not there yet. */
  readonly startedAt: number
  /** Whether it took effect only later than it was asked for. */
  readonly late: boolean
  fate: Fate
  /** Dollars per hour: its bid and what runs, where it is interruptible. */
  bid?: number
  lowest?: number
  wanted: 'running' | 'stopped'
}

/** What one Berth's requests are held against. */
export interface Watch {
  creating(mark: string, body: NewInstance, offer: number): void
  created(mark: string, id: number): void
  refused(mark: string): void
  listed(): void
  destroying(held: Held): void
  stopping?(held: Held): void
}

/** Seconds until an instance has booted. */
export const boot = 30
/** Dollars per hour of whatever there is, running or not. */
export const disk = 0.2

/** A service in a few lines, with a true record of all instances. It outlives the Berths that use it. */
export class PlainService {
  readonly rented = new Map<number, Held>()
  readonly faults: Record<'create' | 'destroy' | 'list' | 'search' | 'stop', Fault[]> = {
    create: [],
    destroy: [],
    list: [],
    search: [],
    stop: [],
  }
  /** Whether it refuses the key, or what the key may do. */
  refusing = false
  readonly offers = new Map<number, { offer: Offer; fate: Fate | 'gone' | 'invalid' }>()
  readonly #turns: Turns
  readonly #now: () => number
  readonly #shows: Shows
  /** Whether an offer can be rented once only. */
  readonly #exclusive: boolean
  #nextId = 100

  constructor(turns: Turns, now: () => number, shows: Shows, exclusive: boolean) {
    this.#turns = turns
    this.#now = now
    this.#shows = shows
    this.#exclusive = exclusive
  }

  /** The instances that are there now. */
  living(): Held[] {
    return [...this.rented.values()].filter(({ startedAt }) => startedAt <= this.#now())
  }

  add(given: Pick<Held, 'by' | 'body' | 'fate' | 'machine'>, after = 0): Held {
    const mark = given.body.env?.['BERTH_RENTAL']
    const startedAt = this.#now() + after
    const held: Held = { ...given, id: this.#nextId++, mark, startedAt, late: after > 0, wanted: 'running' }
    if (given.body.price !== undefined) Object.assign(held, { bid: given.body.price, lowest: 0 })
    this.rented.set(held.id, held)
    return held
  }

  records(): Instance[] {
    return this.living().map(held => this.#record(held))
  }

  /** Its client for a Berth; once `dead` that Berth asks and hears nothing more, whatever took effect. */
  client(by: string, dead: AbortSignal, watch: Watch): ServiceClient {
    const turns = this.#turns
    /** The request is under way until its first turn, and its answer until the second. */
    const ask = async <Answer>(answer: () => Answer, mark?: string): Promise<Answer> => {
      await turns.take(dead)
      let heard: () => Answer
      try {
        if (this.refusing && mark !== undefined) watch.refused(mark)
        if (this.refusing) throw refused(401)
        const said = answer()
        heard = () => said
      } catch (error) {
        heard = () => {
          throw error
        }
      }
      await turns.take(dead)
      return heard()
    }
    const client = {
      offers: {
        search: () =>
          ask(() => {
            if (this.faults.search.shift()) throw lost()
            const rented = new Set([...this.rented.values()].map(({ machine }) => machine))
            const all = [...this.offers.values()].map(({ offer }) => offer)
            return all.filter(({ machine_id = 0 }) => !rented.has(machine_id))
          }),
        createInstance: async (offer: number, body: NewInstance) => {
          const mark = body.env?.['BERTH_RENTAL'] ?? ''
          watch.creating(mark, body, offer)
          const answer = await ask(() => ({ new_contract: this.#create(by, offer, body, watch) }), mark)
          watch.created(mark, answer.new_contract)
          return answer
        },
      },
      instances: {
        list: async () => {
          const instances = await ask(() => {
            if (this.faults.list.shift()) throw lost()
            return this.records()
          })
          watch.listed()
          return { instances, unread: [], cutShort: undefined }
        },
        destroy: (id: number) =>
          ask(() => {
            const fault = this.faults.destroy.shift()
            if (fault === 'unanswered' || fault === 'busy') throw lost()
            const held = this.living().find(each => each.id === id)
            if (!held) throw refused(404)
            watch.destroying(held)
            this.rented.delete(id)
            if (fault) throw lost()
          }),
        stop: (id: number) =>
          ask(() => {
            const fault = this.faults.stop.shift()
            if (fault === 'unanswered' || fault === 'busy') throw lost()
            const held = this.living().find(each => each.id === id)
            if (!held) throw refused(404)
            watch.stopping?.(held)
            held.wanted = 'stopped'
            if (fault) throw lost()
          }),
      },
    }
    return client as unknown as ServiceClient
  }

  #create(by: string, offer: number, body: NewInstance, watch: Watch): number {
    const mark = body.env?.['BERTH_RENTAL'] ?? ''
    const fault = this.faults.create.shift()
    if (fault === 'unanswered') throw lost()
    const known = this.offers.get(offer)
    const machine = known?.offer.machine_id ?? 0
    const taken = this.#exclusive && [...this.rented.values()].some(held => held.machine === machine)
    const fate = known?.fate
    if (fault === 'busy' || !fate || fate === 'gone' || fate === 'invalid' || taken) {
      watch.refused(mark)
      throw refused(fault === 'busy' ? 429 : fate === 'invalid' ? 400 : 404)
    }
    // What shows no mark and comes late can be told by nobody.
    const after = typeof fault === 'object' && this.#shows !== 'nothing' ? fault.late : 0
    const { id } = this.add({ by, body, fate, machine }, after)
    if (fault) throw lost()
    return id
  }

  #record(held: Held): Instance {
    const { id, body, startedAt, fate, bid, lowest, wanted, machine } = held
    const booted = this.#now() - startedAt >= boot
    const outbid = fate === 'outbid' || (bid !== undefined && lowest !== undefined && lowest > bid)
    const off = outbid || wanted === 'stopped' || fate === 'stopped'
    const status = off
      ? 'stopped'
      : !booted || fate === 'stuck'
        ? 'loading'
        : fate === 'good' || fate === 'shut'
          ? 'running'
          : fate
    const shown = this.#shows
    return {
      id,
      machine_id: machine,
      actual_status: booted || wanted === 'stopped' ? status : 'loading',
      intended_status: fate === 'stopped' && booted ? 'stopped' : wanted,
      start_date: startedAt,
      gpu_name: 'RTX 4090',
      num_gpus: 1,
      image_uuid: body.image ?? '',
      is_bid: outbid || bid !== undefined,
      dph_base: bid ?? 0.1,
      dph_total: (bid ?? 0.1) + disk,
      min_bid: fate === 'outbid' ? (bid ?? 0.1) + 1 : (lowest ?? 0.05),
      ...(shown === 'label' || shown === 'both' ? { label: body.label ?? '' } : {}),
      ...(shown === 'env' || shown === 'both'
        ? { extra_env: Object.entries(body.env ?? {}) as [string, string][] }
        : {}),
    }
  }
}
