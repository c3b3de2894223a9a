import type { Berth } from '#contract/commands.ts'
import type { Bridge, MainMessage } from '#contract/messages.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import { Replica } from './replica.ts'
import { PageStream } from './stream.ts'

const disconnected: Problem = {
  code: 'disconnected',
  message: 'Berth stopped responding before this was done.',
  advice: 'Check whether it took effect once the connection is back. If not, try again.',
}

const unreachable: Problem = {
  code: 'disconnected',
  message: 'Berth isn’t responding, so this wasn’t done.',
  advice: 'If Berth is still running, the page reconnects. Then try again.',
}

/** The page's end of the bridge: State as it changes, commands as promises, streams by their number. */
export class BerthLink {
  /** One method per command; rejects with a BerthError. */
  readonly berth: Berth
  readonly #bridge: Bridge
  readonly #onState: (state: State) => void
  readonly #replica = new Replica()
  readonly #calls = new Map<number, { resolve(answer: unknown): void; reject(error: BerthError): void }>()
  readonly #streams = new Map<number, PageStream>()
  readonly #ended = new Set<number>()
  #lastCall = 0
  #down = false

  constructor(bridge: Bridge, onState: (state: State) => void) {
    this.#bridge = bridge
    this.#onState = onState
    this.berth = new Proxy({} as Berth, {
      get: (_, name) => (args: unknown, withdrawn?: AbortSignal) => this.#call(String(name), args, withdrawn),
    })
  }

  /** Begins to listen and asks for the whole State. */
  open(): void {
    this.#bridge.listen(message => this.#take(message))
    this.sync()
  }

  sync(): void {
    this.#down = false
    this.#bridge.post({ kind: 'sync' })
  }

  /** The connection is lost: rejects its pending requests and ends its streams. */
  drop(): void {
    this.#down = true
    for (const call of this.#calls.values()) call.reject(new BerthError(disconnected))
    this.#calls.clear()
    for (const stream of this.#streams.values())
      stream.take({ kind: 'end', stream: stream.id, problem: disconnected })
    this.#streams.clear()
    this.#ended.clear()
  }

  /** The stream whose number a command answered with. */
  stream(id: number): PageStream {
    const known = this.#streams.get(id)
    if (known) return known
    const stream = new PageStream(id, message => {
      if (message.kind === 'end') this.#forget(id)
      this.#bridge.post(message)
    })
    this.#streams.set(id, stream)
    return stream
  }

  #call(name: string, args: unknown, withdrawn: AbortSignal | undefined): Promise<unknown> {
    if (this.#down) return Promise.reject(new BerthError(unreachable))
    const call = ++this.#lastCall
    withdrawn?.addEventListener('abort', () => {
      if (this.#calls.has(call)) this.#bridge.post({ kind: 'withdraw', call })
    })
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject })
      this.#bridge.post({ kind: 'command', call, name, args })
    })
  }

  #forget(id: number): void {
    this.#streams.delete(id)
    this.#ended.add(id)
  }

  #take(message: MainMessage): void {
    switch (message.kind) {
      case 'state':
      case 'patch': {
        const outcome = this.#replica.take(message)
        if (outcome === 'missed') this.sync()
        if (outcome === 'changed' && this.#replica.state) this.#onState(this.#replica.state)
        return
      }
      case 'answer':
        this.#calls.get(message.call)?.resolve(message.answer)
        this.#calls.delete(message.call)
        return
      case 'refusal':
        this.#calls.get(message.call)?.reject(new BerthError(message.problem))
        this.#calls.delete(message.call)
        return
      default:
        if (this.#ended.has(message.stream)) return
        this.stream(message.stream).take(message)
        if (message.kind === 'end') this.#keepEnded(message.stream)
    }
  }

  /** A stream may end before it is read: it is kept until its reader has seen the end. */
  #keepEnded(id: number): void {
    setTimeout(() => this.#forget(id), 10_000)
  }
}
