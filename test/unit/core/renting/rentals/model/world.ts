import type { Rental } from '../../../../../../electron/core/renting/rentals/model.ts'
import type { Instance } from '../../../../../../electron/service/instances.ts'
import { HandClock } from '../../../hand-clock.ts'
import { MemoryFiles } from '../../../memory-files.ts'
import { type Machine, nothingElse, type OneBerth, startOne } from '../../../plain-service/one-berth.ts'
import { type Held, PlainService } from '../../../plain-service/service.ts'
import { Turns } from '../../../plain-service/turns.ts'
import type { Event, History } from './history.ts'
import { newTracked, plainOf, type TrackedRental } from './tracked-rental.ts'
import { witness } from './witness.ts'

/** Two Berths on one account, their users, and whoever else is there. */
export class World {
  readonly clock = new HandClock()
  readonly turns = new Turns()
  readonly service: PlainService
  readonly tracked: TrackedRental[] = []
  readonly machines: Machine[]
  readonly berths: OneBerth[] = []
  /** What was done that must never be. */
  readonly wrongs: string[] = []
  readonly #jumps = [0, 0]
  /** Whether the service shows no marks. */
  readonly blind: boolean
  #ids = 0

  constructor({ shows, exclusive }: History) {
    const now = () => this.clock.monotonic() / 1000
    this.blind = shows === 'nothing'
    this.service = new PlainService(this.turns, now, shows, exclusive)
    this.machines = [0, 1].map(at => ({
      name: `berth ${at}`,
      service: this.service,
      turns: this.turns,
      clock: this.clock,
      files: new MemoryFiles(),
      keychain: new Map<string, string>(),
      shown: {},
      now: () => now() + (this.#jumps[at] ?? 0),
      newId: () => (++this.#ids).toString(16).padStart(16, '0'),
    }))
  }

  async open(): Promise<void> {
    for (const at of this.machines.keys()) await this.#start(at)
  }

  async happen(event: Event): Promise<void> {
    switch (event.do) {
      case 'turn':
        return this.turns.give(event.which)
      case 'turns':
        for (let turn = 0; turn < 5; turn += 1) await this.turns.give(0)
        return
      case 'newest':
        return this.turns.newest()
      case 'rest':
        return this.rest()
      case 'poll':
        return this.#berth(event.berth % 2).poll()
      case 'pass':
        return this.clock.pass(event.seconds * 1000)
      case 'live':
        return this.#live(event.seconds)
      case 'kill':
        return this.#restart(event.berth % 2)
      case 'rent':
        if (this.tracked.length < 3) this.rent(event.berth % 2, event.fate)
        return
      case 'cancel':
      case 'wait longer':
      case 'dismiss':
      case 'resolve': {
        const rental = this.tracked[event.rental % Math.max(1, this.tracked.length)]
        return rental && this.known(rental) ? this.#ask(rental, event.do) : undefined
      }
      case 'fault':
        this.service.faults[event.what].push(event.how)
        return
      case 'refuse the key':
        this.service.refusing = true
        return
      case 'another key':
        this.service.refusing = false
        this.#berth(event.berth % 2).rentals.resume()
        return
      case 'allow the key':
        this.service.refusing = false
        return
      case 'clock back':
        this.#jumps[event.berth % 2] = (this.#jumps[event.berth % 2] ?? 0) - 3000
        return
      case 'destroyed elsewhere': {
        const living = this.service.living()
        const held = living[event.which % Math.max(1, living.length)]
        if (!held) return
        this.service.rented.delete(held.id)
        for (const rental of this.tracked) if (rental.id === held.mark) rental.taken = true
        return
      }
      case 'fate': {
        const living = this.service.living()
        const held = living[event.which % Math.max(1, living.length)]
        if (held) held.fate = event.fate
        return
      }
      case 'stranger': {
        const env: Record<string, string> = event.marked ? { BERTH_RENTAL: 'rffffffffffffffff' } : {}
        const label = event.marked ? 'berth:rffffffffffffffff' : 'made in the console'
        this.service.add({ by: 'a stranger', body: { label, env }, fate: 'good', machine: 1 })
      }
    }
  }

  rent(berth: number, fate: History['first']): void {
    const at = this.tracked.length
    const offer = 10 + at
    this.service.offers.set(offer, { offer: { id: offer, machine_id: 500 + at }, fate })
    const id = `r${(this.#ids + 1).toString(16).padStart(16, '0')}`
    const rental = newTracked({ berth, offer, id, secret: `secret of ${at}` })
    this.tracked.push(rental)
    const env = [{ name: 'TOKEN', value: rental.secret, secret: true }]
    const request = { offer, image: 'pytorch', access: 'ssh', disk: 20, env, ports: [] } as const
    void this.#berth(berth)
      .rentals.rent({ ...request, env, ports: [] }, undefined)
      .then(() => {
        rental.promised = true
      })
  }

  /** Everything that can go on now goes on; then what is shown must be what the model says. */
  async rest(): Promise<void> {
    await this.turns.all()
    for (const rental of this.tracked) this.#check(rental)
  }

  known({ berth, id }: TrackedRental): boolean {
    return this.#berth(berth).rentals.knows(id)
  }

  shown({ berth, id }: TrackedRental): Rental {
    return this.#berth(berth).rentals.rented(id)
  }

  /** What the service has of a rental, whether it shows so or not. */
  living({ id }: TrackedRental): Held[] {
    return this.service.living().filter(({ mark }) => mark === id)
  }

  /** The service is well again but for creations, the users answer, and time passes. */
  async calm(): Promise<void> {
    const { list, destroy } = this.service.faults
    list.length = 0
    destroy.length = 0
    this.service.refusing = false
    for (let round = 0; round < 14; round += 1) {
      for (const berth of this.berths) berth.poll()
      await this.rest()
      for (const rental of this.tracked)
        if (this.known(rental) && this.shown(rental).step === 'unclear') await this.#ask(rental, 'resolve')
      await this.#live(round < 6 ? 5 : 300)
    }
    for (const berth of this.berths) berth.poll()
    await this.rest()
  }

  /** Time passes, and whatever is awaited comes without delay. */
  async #live(seconds: number): Promise<void> {
    await this.rest()
    let left = seconds * 1000
    for (let next = this.clock.waiting[0]; next !== undefined && next <= left; next = this.clock.waiting[0]) {
      await this.clock.pass(next)
      await this.turns.all()
      left -= next
    }
    await this.clock.pass(left)
  }

  #berth(at: number): OneBerth {
    const berth = this.berths[at]
    if (!berth) throw new Error('not started')
    return berth
  }

  /** What outlives a kill now. */
  onDisk({ berth, id }: TrackedRental): Rental | undefined {
    const text = this.machines[berth]?.files.texts.get('accounts/a00000001/rentals.json') ?? '[]'
    return (JSON.parse(text) as Rental[]).find(rental => rental.id === id)
  }

  async #start(at: number): Promise<void> {
    const machine = this.machines[at]
    if (!machine) return
    this.berths[at] = await startOne(machine, witness(this, at), nothingElse)
  }

  async #restart(at: number): Promise<void> {
    this.#berth(at).kill()
    for (const rental of this.tracked.filter(({ berth }) => berth === at)) {
      const kept = this.onDisk(rental)
      if (rental.promised && !kept) this.wrongs.push(`${rental.id} was forgotten`)
      if (rental.cancel === 'accepted' && !kept?.unwanted && kept?.step !== 'cancelled')
        this.wrongs.push(`the end of ${rental.id} was forgotten`)
      // Nobody was told yet: what is on disk holds.
      if (rental.cancel === 'asked') rental.cancel = kept?.unwanted ? 'accepted' : 'no'
      if (kept?.instance !== undefined) {
        plainOf(rental).restarted()
        continue
      }
      rental.plain = undefined
      rental.told.clear()
    }
    await this.#start(at)
  }

  async #ask(rental: TrackedRental, what: 'cancel' | 'wait longer' | 'dismiss' | 'resolve'): Promise<void> {
    const { rentals } = this.#berth(rental.berth)
    const { step, instance, candidates } = this.shown(rental)
    const guessed = instance !== undefined && this.service.rented.get(instance)?.mark !== rental.id
    switch (what) {
      case 'cancel': {
        // Nobody cancels what they see to be another's.
        if (guessed && this.service.rented.has(instance)) return
        if (step === 'running' || step === 'failed' || step === 'cancelled')
          return rentals.cancel(rental.id).catch(() => undefined)
        if (rental.cancel === 'no') rental.cancel = 'asked'
        if (instance !== undefined) rental.told.add(instance)
        rental.plain?.cancelled()
        void rentals.cancel(rental.id).then(() => {
          rental.cancel = 'accepted'
        })
        return
      }
      case 'wait longer':
        if (step === 'late') rental.plain?.is('waiting')
        void rentals.waitLonger(rental.id)
        return
      case 'dismiss':
        void rentals.dismiss(rental.id)
        return
      case 'resolve': {
        if (step !== 'unclear') return
        const own = candidates?.find(id => this.service.rented.get(id)?.mark === rental.id)
        if (own === undefined) rental.none = true
        else rental.told.add(own)
        void rentals.resolve(rental.id, own ?? null)
      }
    }
  }

  seen(at: number, records: readonly Instance[], certain: boolean): void {
    const now = this.machines[at]?.now() ?? 0
    for (const rental of this.tracked) {
      if (rental.berth !== at || !this.known(rental)) continue
      const { instance, createdAt = 0, deadline: within } = this.shown(rental)
      if (instance === undefined) continue
      // What is not wanted any more is not looked at.
      if (rental.cancel !== 'no') continue
      const record = records.find(({ id }) => id === instance)
      plainOf(rental).onPoll(record, now - createdAt, within, certain)
    }
  }

  /** What a fresh answer makes of the rentals shows at once. */
  took(at: number): void {
    for (const rental of this.tracked) if (rental.berth === at && this.known(rental)) this.#checkStep(rental)
  }

  #checkStep(rental: TrackedRental): void {
    const { step, instance } = this.shown(rental)
    if (instance === undefined) return
    const plain = plainOf(rental)
    if (!plain.may(step)) this.wrongs.push(`${rental.id} is shown as ${step}, not ${plain}`)
    plain.is(step)
    if (rental.cancel !== 'no') plain.cancelled()
  }

  #check(rental: TrackedRental): void {
    if (!this.known(rental)) return
    const { id } = rental
    const { step, instance } = this.shown(rental)
    if (step === 'asking') this.wrongs.push(`${id} asks and waits for nothing`)
    if (instance === undefined) {
      if (rental.heardBy === this.#berth(rental.berth))
        this.wrongs.push(`${id} was created, and ${step} is shown`)
      if (step === 'waiting' || step === 'late' || step === 'running')
        this.wrongs.push(`${id} ${step}, of nothing`)
      return
    }
    this.#checkStep(rental)
    const held = this.service.rented.get(instance)
    if (held && held.mark !== id && !this.blind)
      this.wrongs.push(`${id} has taken #${instance} of ${held.mark}`)
  }
}
