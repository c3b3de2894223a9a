import type { RecoveryChoice } from '../../../../../../electron/contract/automation/recovery.ts'
import type { Recovery } from '../../../../../../electron/core/renting/recovery/model.ts'
import type { Rental } from '../../../../../../electron/core/renting/rentals/model.ts'
import type { Instance } from '../../../../../../electron/service/instances.ts'
import { HandClock } from '../../../hand-clock.ts'
import { MemoryFiles } from '../../../memory-files.ts'
import { type Machine, startOne } from '../../../plain-service/one-berth.ts'
import { disk, type Held, PlainService } from '../../../plain-service/service.ts'
import { Turns } from '../../../plain-service/turns.ts'
import { openReplacing, type ReplacingBerth } from './automation.ts'
import type { Choosing, Event, History } from './history.ts'
import { Standing } from './standing.ts'
import { every, image, mostBid, secret, template } from './terms.ts'
import { witness } from './witness.ts'

/** Two Berths on one account with an interruptible instance, others who bid, and the users. */
export class World {
  readonly clock = new HandClock()
  readonly turns = new Turns()
  readonly service: PlainService
  readonly machines: Machine[]
  readonly berths: ReplacingBerth[] = []
  readonly standings = [0, 1].map(at => new Standing(this, at))
  /** What was done that must never be. */
  readonly wrongs: string[] = []
  readonly history: History
  /** Seconds that passed while effects were under way: what follows them comes so much later than it was meant to. */
  held = 0
  original = 0
  readonly originalMark = 'r0000000000000001'
  /** What each try has cost by what its Berth was shown, in dollars. */
  readonly #costs = new Map<string, { dollars: number; perHour: number; at: number }>()
  #ids = 0

  constructor(history: History) {
    this.history = history
    this.service = new PlainService(this.turns, () => this.now(), 'both', true)
    for (const [at, fate] of history.offers.entries()) this.#offer(10 + at, fate, 0.1 + at / 100)
    this.machines = [0, 1].map(at => ({
      name: `berth ${at}`,
      service: this.service,
      turns: this.turns,
      clock: this.clock,
      files: new MemoryFiles(),
      keychain: new Map<string, string>(),
      shown: {},
      now: () => this.now(),
      newId: () => (++this.#ids).toString(16).padStart(16, '0'),
    }))
  }

  now(): number {
    return this.clock.monotonic() / 1000
  }

  /** It runs, and whoever is to replace it once it is outbid was told so. */
  async open(): Promise<void> {
    for (const at of this.machines.keys()) await this.#start(at)
    const { own, both } = this.history
    if (own) await this.#rentOriginal()
    else this.service.add({ by: 'the user', body: { image, price: 0.2 }, fate: 'good', machine: 400 })
    await this.live(60)
    this.original = this.service.living()[0]?.id ?? 0
    await this.#choose(0, this.original, 'replace')
    if (both) await this.#choose(1, this.original, 'replace')
    await this.rest()
    this.#outbid(this.service.book.get(this.original), true)
  }

  async happen(event: Event): Promise<void> {
    const { service } = this
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
      case 'look':
        return this.berth(event.berth % 2).look()
      case 'pass':
        if (this.turns.waiting > 0) this.held += event.seconds
        return this.clock.pass(event.seconds * 1000)
      case 'live':
        return this.live(event.seconds)
      case 'kill':
        this.berth(event.berth % 2).kill()
        return this.#start(event.berth % 2)
      case 'cancel': {
        const { failovers } = this.berth(event.berth % 2).automation
        const trying = failovers.all().find(({ step }) => step === 'trying')
        if (!trying) return
        this.standings[event.berth % 2]?.cancelling(trying.replaces ?? 0)
        void failovers.cancel(trying.id)
        return
      }
      case 'choose':
        return this.#choose(event.berth % 2, this.#nth(event.which)?.id ?? 0, event.choice)
      case 'fault':
        service.faults[event.what].push(event.how)
        return
      case 'refuse the key':
        service.refusing = true
        return
      case 'allow the key':
        service.refusing = false
        return
      case 'outbid':
        return this.#outbid(this.#nth(event.which), true)
      case 'win':
        return this.#outbid(this.#nth(event.which), false)
      case 'destroyed elsewhere': {
        const held = this.#nth(event.which)
        if (held) service.book.delete(held.id)
      }
    }
  }

  async rest(): Promise<void> {
    await this.turns.all()
    for (const standing of this.standings) standing.rests()
  }

  /** Time passes, and whatever is awaited comes without delay. */
  async live(seconds: number): Promise<void> {
    for (let left = seconds * 1000; left > 0; ) {
      for (const berth of this.berths) berth.look()
      await this.rest()
      const next = Math.min(left, this.clock.waiting[0] ?? left, 60_000)
      await this.clock.pass(next)
      left -= Math.max(next, 1)
    }
    await this.rest()
  }

  /** The service is well again, nobody bids any more, and time passes until nothing happens. */
  async calm(): Promise<void> {
    for (const faults of Object.values(this.service.faults)) faults.length = 0
    this.service.refusing = false
    for (let round = 0, quiet = 0; quiet < 3; round += 1) {
      await this.live(120)
      quiet = this.#isQuiet() ? quiet + 1 : 0
      // Where nothing fits, it is tried again and again, until the user has enough of it.
      if (round > 25 && !this.#isTrying()) return
      if (round > 40) await this.#giveUp()
      if (round > 60) throw new Error('it goes on for ever')
    }
  }

  berth(at: number): ReplacingBerth {
    const berth = this.berths[at]
    if (!berth) throw new Error('not started')
    return berth
  }

  onDisk<Content>(at: number, name: string, empty: Content): Content {
    const text = this.machines[at]?.files.texts.get(`accounts/a00000001/${name}.json`)
    return text === undefined ? empty : (JSON.parse(text) as Content)
  }

  recoveryOnDisk(at: number, instance: number): Recovery | undefined {
    return this.onDisk<Recovery[]>(at, 'recoveries', []).find(each => each.instance === instance)
  }

  /** The tries of a failover, as a Berth has written them. */
  tries(at: number, owner: string): Rental[] {
    return this.onDisk<Rental[]>(at, 'rentals', []).filter(rental => rental.owner === owner)
  }

  living(mark: string): Held[] {
    return this.service.living().filter(held => held.mark === mark)
  }

  /** Good machines that can be had within the tries and what they may cost. */
  free(): number[] {
    const rented = new Set([...this.service.book.values()].map(({ machine }) => machine))
    // What is nobody's fault is tried anew each time.
    const blameless = this.history.offers.filter(fate => fate === 'gone' || fate === 'outbid').length
    if (blameless >= this.history.tries) return []
    const { ceiling, offers } = this.history
    if (ceiling < 1 && offers.some(fate => fate === 'outbid' || fate === 'shut')) return []
    return [...this.service.offers.values()].flatMap(({ offer, fate }) =>
      fate === 'good' && (offer.min_bid ?? 0) < mostBid && !rented.has(offer.machine_id ?? 0) ? offer.id : [],
    )
  }

  costOf(mark: string): number {
    return this.#costs.get(mark)?.dollars ?? 0
  }

  async #giveUp(): Promise<void> {
    if (this.free().length > 0) this.wrongs.push('it tries for ever, though there is a machine')
    for (const [at, { automation }] of this.berths.entries())
      for (const key of Object.keys(automation.view())) await this.#choose(at, Number(key), 'tell')
  }

  #isTrying(): boolean {
    return this.berths.some(({ automation }) => automation.failovers.underWay())
  }

  #isQuiet(): boolean {
    const views = this.berths.flatMap(({ automation }) => Object.values(automation.view()))
    return !this.#isTrying() && !views.some(({ step }) => step === 'waiting')
  }

  #offer(id: number, fate: History['offers'][number], lowest: number): void {
    const offer = { id, machine_id: 490 + id, gpu_name: 'RTX 4090', num_gpus: 1, min_bid: lowest }
    this.service.offers.set(id, { offer: { ...offer, dph_base: lowest, dph_total: lowest + disk }, fate })
  }

  async #rentOriginal(): Promise<void> {
    this.#offer(9, 'good', 0.05)
    const env = [{ name: 'TOKEN', value: secret, secret: true }]
    const given = { offer: 9, image, access: 'ssh', disk: 20, env, ports: [], bid: 0.2 } as const
    void this.berth(0).rentals.rent(
      { ...given, env, ports: [], template: { hash: template, name: 'Torch' } },
      undefined,
    )
    await this.rest()
    this.service.offers.delete(9)
  }

  async #start(at: number): Promise<void> {
    const machine = this.machines[at]
    if (!machine) return
    const standing = this.#standing(at)
    standing.restarted()
    this.berths[at] = await startOne(machine, witness(this, at, standing), (ground, rentals) =>
      openReplacing(ground, rentals, this.service, this.turns),
    )
  }

  async #choose(at: number, instance: number, kind: Choosing): Promise<void> {
    const view = this.machines[at]?.shown[instance]
    if (!view) return
    const { tries, ceiling } = this.history
    const limits = { tries, ceiling, deadline: 300 }
    const choices: Record<Choosing, RecoveryChoice> = {
      tell: { kind: 'tell' },
      // Nobody gives way to so little.
      raise: { kind: 'raise', ceiling: 0.001, every },
      replace: { kind: 'replace', ceiling: mostBid, every, limits },
    }
    const standing = this.#standing(at)
    standing.choosing(instance, kind)
    void this.berth(at)
      .automation.recoveries.choose(view, choices[kind])
      .then(
        () => standing.chosen(instance, kind),
        () => undefined,
      )
  }

  #standing(at: number): Standing {
    const standing = this.standings[at]
    if (!standing) throw new Error('not there')
    return standing
  }

  #nth(which: number): Held | undefined {
    const living = this.service.living()
    return living[which % Math.max(1, living.length)]
  }

  #outbid(held: Held | undefined, outbid: boolean): void {
    if (held) held.lowest = outbid ? (held.bid ?? 0) + 0.1 : 0
  }

  seen(at: number, records: readonly Instance[]): void {
    for (const record of records) {
      const { mark, by: owner } = this.service.book.get(record.id) ?? {}
      if (mark === undefined || owner !== this.machines[at]?.name) continue
      const charged = record.actual_status === 'running' || record.actual_status === 'unknown'
      const perHour = charged ? (record.dph_total ?? 0) : disk
      const now = this.now()
      const before = this.#costs.get(mark) ?? { dollars: 0, perHour, at: record.start_date ?? now }
      const grown = ((now - before.at) * before.perHour) / 3600
      this.#costs.set(mark, { dollars: before.dollars + grown, perHour, at: now })
    }
  }
}
