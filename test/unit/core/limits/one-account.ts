import type { Endings } from '#core/endings/perform.ts'
import { isAtRest } from '#core/endings/step.ts'
import type { BeforeLimit } from '#core/limits/engine.ts'
import { openStoredLimits, type StoredLimit } from '#core/limits/model.ts'
import { type Limits, openLimits } from '#core/limits/service.ts'
import type { ServiceClient } from '#service/client.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext, freshAnswer, noting, withEndings } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { accountView } from '#test/unit/views.ts'

const epoch = 1_790_000_000
const allow: BeforeLimit = async ({ action }) => action

/** All limits of one account, with a clock moved by hand, files that survive a kill, and the requests made. */
export class OneAccount {
  readonly clock = new HandClock(epoch * 1000)
  readonly files = new MemoryFiles()
  /** What the service lists, while it answers. */
  instances: InstanceView[]
  answers = true
  /** Whether it accepts requests without carrying them out. */
  ignores = false
  /** Whether an instance that the list shows as stopped runs by its own record. */
  listLies = false
  /** Requests so far, and the errors that refuse the next ones. */
  readonly asked: string[] = []
  readonly refusals: Error[] = []
  /** What its answers wait for. */
  delay: Promise<void> | undefined
  readonly #noting = noting()
  readonly told = this.#noting.said
  /** The bodies of its alerts. */
  readonly bodies = this.#noting.bodies
  /** The ids of those that were withdrawn. */
  readonly withdrawn = this.#noting.withdrawn
  /** Awaited before a limit acts. */
  before: BeforeLimit = allow
  #quitting = new AbortController()
  #limits: Limits | undefined
  #endings: Endings | undefined
  #context = accountContext()

  constructor(...instances: InstanceView[]) {
    this.instances = instances
  }

  get limits(): Limits {
    if (!this.#limits) throw new Error('Berth was not started')
    return this.#limits
  }

  /** The account's time. */
  now(): number {
    return epoch + this.clock.monotonic() / 1000
  }

  /** The limits in State. */
  shown() {
    return this.#context.store.get().accounts[account]?.limits ?? {}
  }

  view(id: string) {
    return this.shown()[id]
  }

  /** Kills Berth: pending writes are lost. */
  kill(): void {
    this.#quitting.abort()
    this.#limits = undefined
    this.before = allow
  }

  /** `stored`: limits that others have set. */
  async start(...stored: StoredLimit[]): Promise<void> {
    this.#quitting = new AbortController()
    const request = (verb: string) => async (id: number) => {
      this.asked.push(`${verb} ${id}`)
      const refusal = this.refusals.shift()
      await this.delay
      if (refusal) throw refusal
      if (this.ignores) return
      this.instances = this.instances.flatMap(view =>
        view.id !== id ? view : verb === 'stop' ? { ...view, state: 'stopped' as const } : [],
      )
    }
    const one = async (id: number) => {
      const view = this.instances.find(instance => instance.id === id)
      const stopped = view && isAtRest(view.state) && !this.listLies
      return {
        id,
        actual_status: stopped ? 'exited' : 'running',
        intended_status: stopped ? 'stopped' : 'running',
      }
    }
    const client = { instances: { stop: request('stop'), destroy: request('destroy'), one } }
    const context = accountContext({
      clock: this.clock,
      files: this.files,
      notifications: this.#noting.notifications,
      client: () => client as unknown as ServiceClient,
      quitting: this.#quitting.signal,
      now: () => this.now(),
      poll: async () => this.#poll(),
    })
    this.#context = context
    this.#endings = await withEndings(context, () => client)
    context.store.change(draft => {
      draft.accounts[account] = accountView({}, ...this.instances)
    })
    const spending = {
      spentToday: () => 0,
      spentThisMonth: () => 0,
      observedPerHour: () => 0,
      countedAt: () => undefined,
    }
    const limits = await openStoredLimits(context)
    await limits.put(...stored)
    this.#limits = await openLimits(context, {
      limits,
      spending,
      wasAttempted: () => false,
      before: target => this.before(target),
      watchdogs: {
        settle: async () => undefined,
        apply: async () => undefined,
        brought: async () => undefined,
      },
    })
    this.#limits.resume()
  }

  /** Polls once and awaits the effects. */
  async poll(): Promise<void> {
    this.#poll()
    await flushPromises()
  }

  /** Lets that many seconds pass, with a poll every 30. */
  async pass(seconds: number): Promise<void> {
    for (let gone = 0; gone < seconds; gone += 30) {
      await this.clock.pass(30_000)
      await this.poll()
    }
  }

  #poll(): void {
    if (!this.answers || !this.#limits) return
    const at = this.now()
    const seen = {
      ...accountView({ limits: this.shown() }, ...this.instances),
      clock: { serverAt: at * 1000, localAt: this.clock.now(), rate: 1 },
    }
    this.#context.store.change(draft => {
      draft.accounts[account] = seen
    })
    const answer = freshAnswer(this.#context, seen.instances, [], at)
    this.#limits.onPoll({ ...answer, credit: seen.credit ?? 0 })
    const gone = new Set(this.#endings?.allPending().filter(id => !(id in seen.instances)))
    this.#endings?.onPoll({ account: seen, gone, begunAt: this.clock.monotonic(), at })
  }
}
