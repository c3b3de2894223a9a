import type { Endings } from '#core/endings/perform.ts'
import { ServiceError } from '#service/service-error.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext, noting, withEndings } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

/**
 * How the service treats a request to stop or destroy: a 404, accepted without effect, an error without effect, a key
 * that may not, an answer that is lost after the effect, or a request that never arrives.
 */
export type Lie = '404' | 'accepted' | 'error' | 'refused' | 'lost' | 'unsent'

function failure(fields: Partial<ConstructorParameters<typeof ServiceError>[0]>): ServiceError {
  return new ServiceError({ code: 'server_error', message: 'It failed.', advice: '', status: 500, ...fields })
}

const failures: Record<Exclude<Lie, 'accepted'>, () => ServiceError> = {
  '404': () => failure({ status: 404, code: 'no_such_instance', isServices: true }),
  error: () => failure({ ambiguous: true }),
  refused: () => failure({ status: 403, code: 'forbidden' }),
  lost: () => failure({ status: 0, code: 'timeout', ambiguous: true }),
  unsent: () => failure({ status: 0, code: 'timeout', ambiguous: true }),
}

/** One instance on a service that lies, and the endings of its account, over kills; polled every five seconds. */
export class EndingWorld {
  readonly clock = new HandClock()
  readonly files = new MemoryFiles()
  /** The truth. */
  readonly states = new Map<number, 'running' | 'stopped' | 'stopping'>([[7, 'running']])
  /** For the next requests, in this order. */
  lies: Lie[] = []
  always: Lie | undefined
  /** Whether destroys alone are accepted without effect. */
  keeps = false
  /** Whether lists and records hide the instance, the list shows it stopped whatever it is, or polls are answered. */
  hidden = false
  listLies = false
  answers = true
  /** Called when an instance's own record is read. */
  onRecord: () => void = () => undefined
  readonly requests: string[] = []
  readonly told: string[] = []
  /** Ends that were told while neither list nor record hid the instance, which was there. */
  readonly falselySaid: string[] = []
  #quitting = new AbortController()
  #context = accountContext()
  #endings: Endings | undefined

  static async start(): Promise<EndingWorld> {
    const world = new EndingWorld()
    await world.restart()
    return world
  }

  get endings(): Endings {
    if (!this.#endings) throw new Error('Berth does not run')
    return this.#endings
  }

  shown() {
    return this.#context.store.get().accounts[account]?.endings ?? {}
  }

  kill(): void {
    this.#quitting.abort()
    this.#endings = undefined
  }

  async restart(): Promise<void> {
    this.#quitting = new AbortController()
    const { signal } = this.#quitting
    const { activity, notifications } = noting()
    const context = accountContext({
      clock: this.clock,
      files: this.files,
      activity: { ...activity, add: ({ text }) => this.#say(text) },
      notifications: {
        ...notifications,
        tell: (_, alerts) => {
          for (const { title } of alerts) this.#say(title)
        },
      },
      quitting: signal,
      poll: async () => this.#poll(signal),
    })
    this.#context = context
    context.store.change(draft => {
      draft.accounts[account] = accountView({}, instanceView({ id: 7 }))
    })
    const client = {
      instances: {
        stop: (id: number) => this.#request(id, 'stop', signal),
        destroy: (id: number) => this.#request(id, 'destroy', signal),
        one: async (id: number) => {
          this.onRecord()
          const state = this.hidden ? undefined : this.states.get(id)
          if (state === undefined) throw failures['404']()
          const runs = state !== 'stopped'
          return {
            id,
            actual_status: runs ? 'running' : 'exited',
            intended_status: state === 'running' ? 'running' : 'stopped',
          }
        },
      },
    }
    this.#endings = await withEndings(context, () => client)
    this.#endings.show()
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await flushPromises()
  }

  /** Lets seconds pass, with a poll every five. */
  async pass(seconds: number): Promise<void> {
    for (let gone = 0; gone < seconds; gone += 5) {
      await this.clock.pass(1000)
      await this.#poll(this.#quitting.signal)
      await this.settle()
      await this.clock.passInSteps(1000 * (Math.min(seconds, gone + 5) - gone - 1), () => this.settle())
    }
  }

  #say(text: string): void {
    this.told.push(text)
    const action = /^(Stopped|Destroyed) /.exec(text)?.[1]
    const state = this.states.get(7)
    const isTrue = action === 'Stopped' ? state === 'stopped' || state === undefined : state === undefined
    if (action && !isTrue && !this.hidden) this.falselySaid.push(text)
  }

  async #request(id: number, action: 'stop' | 'destroy', signal: AbortSignal): Promise<void> {
    this.requests.push(`${action} ${id}`)
    const lie = this.lies.shift() ?? (this.keeps && action === 'destroy' ? 'accepted' : this.always)
    await flushPromises()
    if (signal.aborted) throw failures.lost()
    if (lie === undefined || lie === 'lost') {
      if (!this.states.has(id)) throw failures['404']()
      if (action === 'stop') this.states.set(id, 'stopped')
      else this.states.delete(id)
    }
    if (lie !== undefined && lie !== 'accepted') throw failures[lie]()
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const begunAt = this.clock.monotonic()
    const state = this.hidden ? undefined : this.states.get(7)
    const shown = this.listLies && state ? 'stopped' : state
    await flushPromises()
    if (!this.answers || signal.aborted) return
    const instances: Record<string, InstanceView> = shown ? { 7: instanceView({ id: 7, state: shown }) } : {}
    this.#context.store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.instances = instances
    })
    const seen = { account: { instances }, gone: new Set(shown ? [] : [7]), begunAt, at: begunAt / 1000 }
    this.#endings?.onPoll(seen)
  }
}
