import type { Attempt, Rental } from '#core/renting/rental.ts'
import type { Send } from '#service/http/operation.ts'
import type { NewInstance } from '#service/new-instance.ts'
import type { Creation } from '#service/offers.ts'
import type { ServiceError } from '#service/service-error.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { type Berth, type Machine, startBerth } from './berth.ts'
import type { Event, History, Offered } from './history.ts'
import { ModelRental } from './model-rental.ts'
import { kindOf, Service } from './service.ts'
import { Turns } from './turns.ts'

const ends: readonly Attempt['step'][] = ['running', 'failed', 'cancelled']

/** One Berth, its user, the service and its other users. */
export class World {
  readonly rentals: ModelRental[] = []
  readonly service: Service
  readonly platform: Machine
  /** Actions that must never happen. */
  readonly wrongs: string[] = []
  /** Whether the service shows no marks. */
  readonly #blind: boolean
  readonly #clock = new HandClock()
  readonly #turns = new Turns()
  /** Seconds by which this computer is wrong about the account’s time. */
  #jump = 0
  #ids = 0
  #started: Berth | undefined

  constructor({ shows, exclusive }: History) {
    const now = () => this.#clock.monotonic() / 1000
    this.#blind = shows === 'nothing'
    this.service = new Service(now, shows, exclusive)
    this.platform = {
      turns: this.#turns,
      clock: this.#clock,
      files: new MemoryFiles(),
      keychain: new Map(),
      shown: {},
      send: this.#send,
      now: () => now() + this.#jump,
      newId: () => (++this.#ids).toString(16).padStart(16, '0'),
      onPoll: (instances, follow) => this.#onPoll(instances, follow),
    }
  }

  async start(): Promise<void> {
    this.#started = await startBerth(this.platform)
  }

  get #berth(): Berth {
    if (!this.#started) throw new Error('not started')
    return this.#started
  }

  async happen(event: Event): Promise<void> {
    switch (event.do) {
      case 'turn':
        return this.#turns.give(event.which)
      case 'turns':
        for (let turn = 0; turn < 5; turn += 1) await this.#turns.give(0)
        return
      case 'newest':
        return this.#turns.give(Math.max(0, this.#turns.waiting - 1))
      case 'rest':
        return this.#rest()
      case 'poll':
        return this.#berth.poll()
      case 'pass':
        return this.#clock.pass(event.seconds * 1000)
      case 'live':
        return this.#live(event.seconds)
      case 'kill':
        return this.#restart()
      case 'rent':
        if (this.rentals.length < 3) this.rent(event.fate)
        return
      case 'cancel':
      case 'wait longer':
      case 'dismiss':
      case 'resolve': {
        const rental = this.rentals[event.rental % Math.max(1, this.rentals.length)]
        return rental && this.knows(rental) ? this.#user(rental, event.do) : undefined
      }
      case 'fault':
        this.service.faults[event.what].push(event.how)
        return
      case 'refuse the key':
        this.service.refusing = true
        return
      case 'another key':
        this.service.refusing = false
        this.#begun()
        return this.#berth.rentals.resume()
      case 'allow the key':
        this.service.refusing = false
        return
      case 'clock back':
        this.#jump -= 3000
        return
      case 'destroyed elsewhere':
      case 'fate': {
        const living = this.service.living()
        const instance = living[event.which % Math.max(1, living.length)]
        if (!instance) return
        if (event.do === 'fate') return this.service.changeFate(instance.id, event.fate)
        this.service.destroyElsewhere(instance.id)
        for (const rental of this.rentals) if (rental.id === instance.mark) rental.taken = true
        return
      }
      case 'stranger':
        return this.service.rentElsewhere(event.marked ? 'rffffffffffffffff' : undefined)
    }
  }

  rent(offered: Offered): void {
    const at = this.rentals.length
    const offer = offered === 'gone' ? 1 : (this.service.offers()[at + 1] ?? 0)
    if (offered !== 'gone') this.service.fates.set(offer, offered)
    const id = `r${(this.#ids + 1).toString(16).padStart(16, '0')}`
    const rental = new ModelRental(id, offer, `secret of ${at}`, this.platform.now())
    this.rentals.push(rental)
    const env = [{ name: 'TOKEN', value: rental.secret, secret: true }]
    void this.#berth.rentals
      .rent({ offer, image: 'pytorch', access: 'ssh', disk: 20, env, ports: [] }, undefined)
      .then(() => {
        rental.promised = true
      })
  }

  knows({ id }: ModelRental): boolean {
    return this.#berth.rentals.knows(id)
  }

  shown({ id }: ModelRental): Attempt {
    return this.#berth.rentals.lastAttempt(id)
  }

  /** Its instances at the service, whether their mark shows or not. */
  living({ id }: ModelRental): number[] {
    return this.service.living().flatMap(instance => (instance.mark === id ? instance.id : []))
  }

  /**
   * Ends the faults, except for one of destroying; then the user answers, and time passes until nothing changes any
   * more.
   */
  async calm(): Promise<void> {
    this.service.faults.list.length = 0
    this.service.faults.destroy.splice(1)
    this.service.refusing = false
    let still = 0
    for (let round = 0; round < 10 && still < 2; round += 1) {
      this.#berth.poll()
      await this.#rest()
      const known = this.rentals.filter(rental => this.knows(rental))
      for (const rental of known) await this.#user(rental, 'resolve')
      const isStill = known.every(rental => ends.includes(this.shown(rental).step))
      // Late instances appear within one long round.
      still = isStill && round >= 2 ? still + 1 : 0
      await this.#live(round < 2 ? 5 : 300)
    }
    this.#berth.poll()
    await this.#rest()
  }

  /** Sends the client’s requests: each waits for its turn, and so does its answer. */
  readonly #send: Send = async (operation, input, { signal } = {}) => {
    const dead = signal ?? new AbortController().signal
    const about = input.ids?.['id'] ?? 0
    const kind = kindOf(operation)
    const rental = kind === 'create' ? this.#creates(about, input.body as NewInstance) : undefined
    if (kind === 'destroy') this.#destroys(about)
    const ask = () => Promise.allSettled([this.service.answer(operation, input)])
    const [answer] = await this.#turns.take(dead, ask)
    return this.#turns.take(dead, async () => {
      if (answer.status === 'rejected') {
        if (rental && !(answer.reason as ServiceError).ambiguous) rental.refusals += 1
        throw answer.reason
      }
      if (kind === 'list') for (const rental of this.rentals) rental.listsSince += 1
      if (rental) {
        rental.heard = true
        rental.told.add((answer.value as Creation).new_contract)
      }
      return answer.value
    })
  }

  /** Checks a request to create against the rules, and gives its rental. */
  #creates(offer: number, body: NewInstance): ModelRental | undefined {
    const mark = body.env?.['BERTH_RENTAL']
    const rental = this.rentals.find(({ id }) => id === mark)
    if (!rental) this.wrongs.push(`an unknown ${mark} rents ${offer}`)
    else this.wrongs.push(...rental.asked(offer, body, this.#onDisk(rental)))
    return rental
  }

  #destroys(instance: number): void {
    const there = this.service.living().find(({ id }) => id === instance)
    if (!there) return
    const rental = this.rentals.find(({ id }) => id === there.mark)
    if (!rental) {
      this.wrongs.push(`destroys #${instance} of somebody else`)
      return
    }
    // A surplus instance needs no check.
    const own = this.shown(rental).instance
    if (own === undefined || own === instance)
      this.wrongs.push(...rental.destroys(instance, this.#blind, this.#onDisk(rental)))
  }

  /** The rental's try on disk. */
  #onDisk({ id }: ModelRental): Attempt | undefined {
    const text = this.platform.files.texts.get('accounts/a00000001/rentals.json') ?? '[]'
    return (JSON.parse(text) as Rental[]).find(rental => rental.id === id)?.attempts[0]
  }

  #begun(): void {
    for (const rental of this.rentals) rental.begun(this.platform.now())
  }

  async #restart(): Promise<void> {
    this.#berth.kill()
    for (const rental of this.rentals) this.wrongs.push(...rental.killed(this.#onDisk(rental)))
    this.#begun()
    await this.start()
  }

  async #user(rental: ModelRental, what: 'cancel' | 'wait longer' | 'dismiss' | 'resolve'): Promise<void> {
    const { rentals } = this.#berth
    const { step, instance, candidates } = this.shown(rental)
    const own = this.living(rental)
    switch (what) {
      case 'cancel': {
        // Users do not cancel another’s instance.
        const isThere = this.service.living().some(({ id }) => id === instance)
        if (instance !== undefined && isThere && !own.includes(instance)) return
        if (ends.includes(step)) return rentals.cancel(rental.id).catch(() => undefined)
        if (rental.cancel === 'no') rental.cancel = 'asked'
        if (instance !== undefined) rental.told.add(instance)
        void rentals.cancel(rental.id).then(() => {
          rental.cancel = 'accepted'
        })
        return
      }
      case 'wait longer':
        void rentals.waitLonger(rental.id)
        return
      case 'dismiss':
        void rentals.dismiss(rental.id)
        return
      case 'resolve': {
        if (step !== 'unclear') return
        const one = candidates?.find(id => own.includes(id))
        if (one === undefined) rental.none = true
        else rental.told.add(one)
        void rentals.resolve(rental.id, one ?? null)
      }
    }
  }

  /** Lets time pass, and gives all turns without delay. */
  async #live(seconds: number): Promise<void> {
    await this.#rest()
    let left = seconds * 1000
    for (let [next] = this.#clock.waiting; next !== undefined && next <= left; [next] = this.#clock.waiting) {
      await this.#clock.pass(next)
      await this.#turns.all()
      left -= next
    }
    await this.#clock.pass(left)
  }

  /** Gives all turns, then checks what is shown. */
  async #rest(): Promise<void> {
    await this.#turns.all()
    for (const rental of this.rentals) if (this.knows(rental)) this.#check(rental)
  }

  #check(rental: ModelRental): void {
    const { id } = rental
    const { step, instance } = this.shown(rental)
    if (step === 'asking') this.wrongs.push(`${id} asks and waits for nothing`)
    if (instance === undefined) {
      if (rental.heard) this.wrongs.push(`${id} was created, and ${step} is shown`)
      if (step === 'waiting' || step === 'late' || step === 'running')
        this.wrongs.push(`${id} is ${step}, of nothing`)
      return
    }
    if (rental.end && step !== rental.end) this.wrongs.push(`${id} was ${rental.end}, and is ${step}`)
    if (ends.includes(step)) rental.end = step
    const other = this.service.living().find(living => living.id === instance && living.mark !== id)
    if (other && !this.#blind) this.wrongs.push(`${id} has taken #${instance} of ${other.mark}`)
  }

  /** Checks that the rentals follow a poll at once. */
  #onPoll(instances: Readonly<Record<string, InstanceView>>, follow: () => void): void {
    const certain = this.#turns.waiting === 0
    const expected = this.rentals.flatMap(rental => {
      // Unwanted rentals are not followed.
      if (!this.knows(rental) || rental.cancel !== 'no') return []
      const { step, instance, createdAt = 0, deadline } = this.shown(rental)
      if (instance === undefined) return []
      const isLate = this.platform.now() - createdAt >= deadline
      return [{ rental, may: rental.after(step, instances[instance], isLate, certain) }]
    })
    follow()
    for (const { rental, may } of expected) {
      const { id } = rental
      const { step } = this.shown(rental)
      if (!may.includes(step)) this.wrongs.push(`${id} is shown as ${step}, not ${may.join(' or ')}`)
    }
  }
}
