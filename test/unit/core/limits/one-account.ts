import type { InstanceView } from '#contract/instance/instance.ts'
import type { AccountContext } from '#core/account-context.ts'
import { MissingPolls } from '#core/instances/missing-instances.ts'
import type { BeforeLimit } from '#core/limits/act.ts'
import { openStoredLimits } from '#core/limits/model.ts'
import { type Limits, openLimits } from '#core/limits/service.ts'
import { createStore } from '#core/storage/store.ts'
import type { ServiceClient } from '#service/client.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { accountView, emptyState } from '#test/unit/views.ts'

const account = 'a00000001'
const epoch = 1_790_000_000
const allow: BeforeLimit = async ({ action }) => action

/** All limits of one account, with a clock moved by hand, files that survive a kill, and the requests made. */
export class OneAccount {
  readonly clock = new HandClock(epoch * 1000)
  readonly files = new MemoryFiles()
  /** What the service lists, while it answers. */
  instances: InstanceView[]
  answers = true
  /** Requests so far, and the errors that refuse the next ones. */
  readonly asked: string[] = []
  readonly refusals: Error[] = []
  readonly told: string[] = []
  /** Awaited before a limit acts. */
  before: BeforeLimit = allow
  #ending = new AbortController()
  #limits: Limits | undefined
  #missing = new MissingPolls()

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

  view(id: string) {
    const { limits } = this.store.get().accounts[account] ?? {}
    return limits?.[id]
  }

  store = createStore(emptyState())

  /** Kills Berth: pending writes are lost. */
  kill(): void {
    this.#ending.abort()
    this.#limits = undefined
    this.before = allow
  }

  async start(): Promise<void> {
    this.#ending = new AbortController()
    this.store = createStore(emptyState())
    this.store.change(draft => {
      draft.accounts[account] = accountView({}, ...this.instances)
    })
    const { clock, files, store } = this
    const request = (verb: string) => async (id: number) => {
      this.asked.push(`${verb} ${id}`)
      const refusal = this.refusals.shift()
      if (refusal) throw refusal
    }
    const client = { instances: { stop: request('stop'), destroy: request('destroy') } }
    const context = {
      account,
      store,
      files,
      folder: 'account',
      machine: { clock },
      newId: () => '1'.padStart(16, '0'),
      activity: { add: () => undefined },
      notifications: {
        tell: (_: string, alerts: readonly { title: string }[]) =>
          void this.told.push(...alerts.map(({ title }) => title)),
        withdraw: () => undefined,
      },
      access: { connect: () => Promise.reject(new Error('SSH is shut')) },
      client: () => client as unknown as ServiceClient,
      ending: this.#ending.signal,
      onBroken: () => undefined,
      now: () => this.now(),
      poll: async () => this.#poll(),
    }
    const spending = {
      spentToday: () => 0,
      spentThisMonth: () => 0,
      observedPerHour: () => 0,
      countedAt: () => undefined,
    }
    this.#missing = new MissingPolls()
    this.#limits = await openLimits(context as unknown as AccountContext, {
      limits: await openStoredLimits(context),
      spending,
      isTried: () => false,
      before: target => this.before(target),
      watchdogs: { settle: async () => undefined, apply: async () => undefined },
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
    this.store.change(draft => {
      draft.accounts[account] = {
        ...accountView({ limits: draft.accounts[account]?.limits ?? {} }, ...this.instances),
        clock: { serverAt: at * 1000, localAt: this.clock.now(), rate: 1 },
      }
    })
    const seen = this.store.get().accounts[account]
    if (seen)
      this.#limits.onPoll({
        account: seen,
        records: [],
        unconfirmed: new Set(),
        pollsMissing: this.#missing.next(id => id in seen.instances),
        at,
        credit: seen.credit ?? 0,
      })
  }
}
