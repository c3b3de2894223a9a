import { badAnswer, noAnswer, refusal } from '#service/http/failure.ts'
import type { Input, Operation } from '#service/http/operation.ts'
import { type Profile, publicProfile } from '#simulator/deployment.ts'
import { ServiceError } from '#simulator/errors.ts'
import { Fields } from '#simulator/fields.ts'
import { Results } from '#simulator/results.ts'
import { routes } from '#simulator/routes/routes.ts'
import type { Instance } from '#simulator/world/instances/instance.ts'
import { World } from '#simulator/world/world.ts'

/** How instances go: they boot and run, or have another status from the start. */
export type Fate = 'good' | 'loading' | 'exited' | 'offline' | 'unknown' | 'stopped'

/** What the records show of label and environment; no service has to show either. */
export type Shows = 'label' | 'env' | 'both' | 'nothing'

/**
 * The fault of a request: its answer is lost, the request is lost, it fails with an unknown effect, or it is refused.
 * `unsaid`: what it creates is refused with status 200 all the same. With `late` its answer is lost, and what it creates appears only after that many seconds;
 * with `page` it is answered by a page of something in between.
 */
export type Fault = 'lost' | 'unanswered' | 'failing' | 'refused' | 'unsaid' | { late: number; page?: true }

export type Kind = 'create' | 'destroy' | 'list' | 'stop'

/** The routes by the operations' methods and paths; of several at one, the first answers. */
const routeOf = new Map(
  routes
    .toReversed()
    .map(route => [
      `${route.method} /api/${route.version ?? 'v0'}${route.path.replace(/:\w+/, '{id}')}`,
      route,
    ]),
)

/**
 * The simulator as the public deployment, with a clock moved by hand. The client’s operations call its routes
 * directly, since HTTP would take longer than all the rest.
 */
export class Service {
  /** Faults of the next requests of each kind. */
  readonly faults: Record<Kind, Fault[]> = { create: [], destroy: [], list: [], stop: [] }
  /** Whether it refuses the key, or what the key may do. */
  refusing = false
  /** How the instances of each offer go. */
  readonly fates = new Map<number, Fate>()
  readonly #now: () => number
  readonly #shows: Shows
  /** Whether an offer can be rented only once. */
  readonly #exclusive: boolean
  readonly #profile: Profile
  readonly world: World
  readonly #results = new Results()

  /** `now`: epoch seconds. `count`: how many offers there are. */
  constructor(now: () => number, shows: Shows, exclusive: boolean, count = 4) {
    this.world = new World({ seed: 7, speed: 0, start: 0, offers: count, calm: true, flaky: 0 })
    this.#now = now
    this.#shows = shows
    this.#exclusive = exclusive
    const records = shows === 'label' || shows === 'nothing' ? 'missing' : 'full'
    this.#profile = { ...publicProfile, list: 'v0', v1: '404', records }
  }

  offers(): number[] {
    return this.world.market.all().map(({ facts }) => facts.id)
  }

  /** Micro-dollars that were charged up to now. */
  charged(): number {
    this.#goOn()
    return this.world.ledger.total(this.world.clock.now())
  }

  /** The instances that exist now, each with the mark that it was created with. */
  living(): { id: number; mark: string | undefined }[] {
    this.#goOn()
    const there = this.world.instances.list().filter(({ created }) => created <= this.#now() * 1000)
    return there.map(({ id, launch }) => ({ id, mark: launch.env['BERTH_RENTAL'] }))
  }

  /** Rents for someone else, with the mark of another Berth or none. */
  rentElsewhere(mark: string | undefined): void {
    const label = mark === undefined ? 'made in the console' : `berth:${mark}`
    const env: Record<string, string> = mark === undefined ? {} : { BERTH_RENTAL: mark }
    const [offer = 0] = this.offers()
    const launch = { image: 'pytorch', disk: 20, runtype: 'ssh', onstart: '', label, env, bid: null }
    const rest = { template: null, volume: null, registry: null, extraFilters: {}, cancelUnavailable: false }
    const instance = this.world.instances.create(offer, { ...launch, ...rest, targetState: 'running' }, [])
    instance.offer.rented = false
  }

  destroyElsewhere(id: number): void {
    this.world.instances.destroy(this.world.instances.get(id))
  }

  changeFate(id: number, fate: Fate): void {
    this.world.instances.force(this.world.instances.get(id), fate === 'good' ? 'running' : fate)
  }

  /** Answers a request. Throws the client’s errors. */
  async answer<Answer>(operation: Operation<Answer>, input: Input): Promise<Answer> {
    this.#goOn()
    const attempt = { operation, secrets: [] }
    const fault = this.refusing ? undefined : this.faults[kindOf(operation)].shift()
    if (this.refusing) throw refusal(attempt, 401, {}, undefined)
    if (fault === 'unanswered') throw noAnswer(attempt, 'connection_lost', true)
    if (fault === 'failing') throw refusal(attempt, 500, {}, undefined)
    if (fault === 'refused') throw refusal(attempt, 400, { error: 'invalid_args' }, undefined)
    const before = new Set(this.world.instances.list())
    const body = await this.#bodyOf(operation, input)
    for (const instance of this.world.instances.list())
      if (!before.has(instance)) this.#begin(instance, typeof fault === 'object' ? fault.late : 0)
    if (fault === 'unsaid' && kindOf(operation) === 'create')
      throw refusal(attempt, 200, { success: false, msg: 'The request failed.' }, undefined)
    if (typeof fault === 'object' && fault.page) throw refusal(attempt, 404, undefined, undefined)
    if (fault) throw noAnswer(attempt, 'connection_lost', true)
    const problem = operation.answer.problem(body)
    if (problem) throw badAnswer(attempt, 200, problem)
    return operation.answer.read(body)
  }

  async #bodyOf<Answer>(operation: Operation<Answer>, { ids, body = {} }: Input): Promise<unknown> {
    const route = routeOf.get(`${operation.method} ${operation.path}`)
    if (!route) throw new Error(`There is nothing at ${operation.path}.`)
    try {
      const answer = await route.answer({
        world: this.world,
        caller: { kind: 'account', key: this.world.account.apiKey },
        profile: this.#profile,
        results: this.#results,
        id: () => ids?.['id'] ?? 0,
        query: new URLSearchParams(),
        body: code => new Fields(JSON.parse(JSON.stringify(body)), code),
        hasBody: true,
        headers: new Headers(),
      })
      return JSON.parse(JSON.stringify(answer))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      throw refusal({ operation, secrets: [] }, error.status, error.body, undefined)
    }
  }

  /** Advances the simulator’s clock to now. */
  #goOn(): void {
    const { clock } = this.world
    clock.advance(this.#now() - clock.now() / 1000)
    this.world.catchUp()
  }

  #begin(instance: Instance, late: number): void {
    const { offer } = instance
    if (!this.#exclusive) offer.rented = false
    if (this.#shows === 'env' || this.#shows === 'nothing') instance.label = ''
    // Nobody could recognise a late instance without its mark.
    if (this.#shows !== 'nothing') Object.assign(instance, { created: instance.created + late * 1000 })
    const fate = this.fates.get(offer.facts.id) ?? 'good'
    if (fate !== 'good') this.world.instances.force(instance, fate)
  }
}

export function kindOf({ method, path }: Pick<Operation<unknown>, 'method' | 'path'>): Kind {
  if (method === 'PUT') return path.includes('/asks/') ? 'create' : 'stop'
  return method === 'DELETE' ? 'destroy' : 'list'
}
