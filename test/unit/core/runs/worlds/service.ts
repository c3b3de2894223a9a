import { noAnswer } from '#service/http/failure.ts'
import type { Input, Operation } from '#service/http/operation.ts'
import type { Instance } from '#service/instances.ts'
import type { HandClock } from '#test/berth/clocks.ts'
import { Service } from '#test/unit/core/renting/model/service.ts'

/** Epoch seconds of the service when the hand clock begins. */
const epoch = 1_700_000_000

/** The simulator as a service that lies about prices, its clock and its list, and loses answers; its ledger is right. */
export class LyingService {
  /** Whether it doesn't lie: not yet, or no more. */
  honest = true
  readonly #service: Service
  readonly #clock: HandClock
  readonly #draw: () => number
  readonly #story: string[]
  /** How its clock goes from some moment on; both in seconds. */
  #time: { kind: 'right' | 'still' | 'half' | 'back'; at: number; told: number }
  /** Instances whose price rose, about which it tells the truth: nobody could know. */
  readonly #raised = new Set<number>()
  readonly #ends = new Map<string, { at: number; code: number; failed: number }>()

  constructor(clock: HandClock, draw: () => number, story: string[]) {
    this.#clock = clock
    this.#draw = draw
    this.#story = story
    this.#service = new Service(() => this.now(), 'both', true, 40)
    for (const offer of this.#service.offers())
      if (draw() < 0.2) this.#service.fates.set(offer, draw() < 0.5 ? 'exited' : 'loading')
    // Of a machine on its own nobody could make a network.
    for (const [at, { facts }] of this.#service.world.market.all().entries())
      Object.assign(facts, { cluster_id: at % 6 })
    this.#time = { kind: 'right', at: this.now(), told: this.now() }
  }

  /** Its true time, epoch seconds. */
  now(): number {
    return epoch + this.#clock.monotonic() / 1000
  }

  /** The time that its answers tell, epoch seconds. */
  told(): number {
    const { kind, at, told } = this.#time
    const passed = this.now() - at
    if (this.honest || kind === 'right') return this.now()
    return kind === 'still' ? told : kind === 'half' ? told + passed / 2 : told - 3600 + passed
  }

  charged(): number {
    return this.#service.charged()
  }

  /** How many instances run. */
  running(): number {
    return this.#service.world.instances.list().filter(({ status }) => status === 'running').length
  }

  left(): number {
    return this.#service.living().length
  }

  /** Whether nothing of it runs. */
  isQuiet(): boolean {
    return this.#service.world.instances.list().every(({ status }) => status === 'stopped')
  }

  /** What a machine prints of its network interfaces. */
  addressesOf(id: number): string {
    const { overlays } = this.#service.world
    return `2: eth0    inet ${overlays.addressOf(id) ?? '172.17.0.2'}/24`
  }

  /** What a machine says that takes over files: of a copy that brought some, brought none, or was torn. */
  takenOver(): string {
    const at = Math.floor(this.now())
    const kinds = [
      `taken over 3 2 ${at - 60} ${at} 0 - 0`,
      `taken over 3 1 ${at - 60} ${at} 2 - 2`,
      'taken over 0 0 0 0 0 - 0',
      'taken over torn',
      '',
    ]
    return kinds[Math.floor(this.#draw() * kinds.length)] ?? ''
  }

  /** The service's answer to a copy between machines, which says nothing of what it brought. Takes a while. */
  async copy(): Promise<string | undefined> {
    const kind = this.#draw()
    await new Promise<void>(resolve => this.#clock.after(this.#draw() * 600_000, resolve))
    if (kind < 0.2)
      throw noAnswer(
        { operation: { method: 'PUT', path: '/copy' }, secrets: [] } as never,
        'connection_lost',
        true,
      )
    return kind < 0.4 ? 'It failed.' : undefined
  }

  /** How a program on a machine ended, and how often it was tried before: drawn once, when it is first asked for. */
  programEnd(program: string): { code: number; failed: number } | undefined {
    const draw = this.#draw
    const end = this.#ends.get(program) ?? {
      at: draw() < 0.5 ? Number.POSITIVE_INFINITY : this.now() + draw() * 7200,
      code: draw() < 0.5 ? 0 : 1,
      failed: Math.floor(draw() * 3),
    }
    this.#ends.set(program, end)
    return this.now() >= end.at ? end : undefined
  }

  /** Outbids a machine that runs; gives whether there was one. */
  outbid(): boolean {
    const { instances } = this.#service.world
    const one = instances.list().find(({ status, bid }) => status === 'running' && bid !== null)
    if (one) instances.outbid(one)
    return one !== undefined
  }

  /** Something that no user of the service decides. */
  happen(): void {
    const { world } = this.#service
    const instances = world.instances.list()
    const one = instances[Math.floor(this.#draw() * instances.length)]
    const kind = Math.floor(this.#draw() * 4)
    if (kind === 0) {
      const clocks = ['right', 'still', 'half', 'back'] as const
      const clock = clocks[Math.floor(this.#draw() * clocks.length)] ?? 'right'
      this.#time = { kind: clock, at: this.now(), told: this.told() }
      this.#story.push(`its clock goes ${clock}`)
    } else if (one && kind === 1 && one.bid !== null) {
      world.instances.outbid(one)
      this.#story.push(`outbid ${one.id}`)
    } else if (one && kind === 2 && !this.#raised.has(one.id)) {
      this.#raised.add(one.id)
      const part = this.#draw()
      // That of its GPUs, of its disk, or both.
      if (part < 0.7) one.price = Math.round(one.price * (1 + this.#draw() * 20))
      if (part > 0.4) one.storageCost *= 1 + this.#draw() * 20
      world.instances.setTerms({
        trafficCharged: false,
        contractsEnd: false,
        creditNeeded: false,
        goneIsFree: false,
      })
      this.#story.push(`the price of ${one.id} rises to ${one.price}, its disk’s to ${one.storageCost}`)
    }
  }

  async answer<Answer>(operation: Operation<Answer>, input: Input): Promise<Answer> {
    const isList = operation.method === 'GET' && operation.path.endsWith('/instances/')
    const lost = () => noAnswer({ operation, secrets: [] }, 'connection_lost', true)
    if (!this.honest && this.#draw() < 0.03) throw lost()
    const answer = await this.#service.answer(operation, input)
    for (const one of this.#service.world.instances.list()) one.joinedSsh ??= { host: '127.0.0.1', port: 22 }
    if (!this.honest && !isList && this.#draw() < 0.03) throw lost()
    if (this.honest || !isList) return answer
    const list = answer as Answer & { instances: Instance[] }
    return { ...list, instances: list.instances.flatMap(record => this.#lie(record)) }
  }

  /** A record as it is, with a wrong price, or twice. */
  #lie(record: Instance): Instance[] {
    const cheap = this.#draw() < 0.5 ? 0 : 0.00001
    const lie = { ...record, dph_total: cheap, dph_base: cheap, storage_total_cost: 0, storage_cost: 0 }
    const wrong = { ...lie, search: undefined, instance: undefined }
    const kind = this.#raised.has(record.id) ? 1 : this.#draw()
    if (kind < 0.15) return [wrong]
    return kind < 0.25 ? [record, { ...wrong, actual_status: 'stopped' }] : [record]
  }
}
