import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { LifeStatus } from '../messages.ts'

/** Real timers, saved before virtual time replaces them. */
const real = { setTimeout, clearTimeout, setImmediate }

/** Turns of the event loop without activity after which the process counts as calm. */
const calmTurns = 4
/** Real milliseconds after which pending work is reported, since the service may wait for time to advance. */
const patience = 25
/** Real milliseconds between two checks for work without an end event. */
const checkInterval = 2

/** Tracks pending requests, SSH sockets and file work of this process. Time may only advance without any. */
export class Stillness {
  readonly #requests = new Set<string>()
  readonly #works = new Set<string>()
  readonly #sockets = new Set<Socket>()
  #count = 0
  #wake: () => void = () => undefined

  /** Tracks a request until its whole answer has arrived. */
  async request<Result>(name: string, work: Promise<Result>): Promise<Result> {
    return this.#watched(this.#requests, name, work)
  }

  /** Tracks any other work. */
  async work<Result>(name: string, work: Promise<Result>): Promise<Result> {
    return this.#watched(this.#works, name, work)
  }

  /** Tracks sockets to anything but the service until they close. */
  watchSockets(servicePort: number): void {
    subscribe('net.client.socket', message => {
      const { socket } = message as { socket: Socket }
      const done = () => {
        this.#sockets.delete(socket)
        this.#wake()
      }
      this.#sockets.add(socket)
      socket.once('connect', () => {
        if (socket.remotePort === servicePort) done()
      })
      socket.once('close', done)
    })
  }

  /**
   * Resolves with the pending work once only `held` requests are pending. After `patience` it resolves anyway with
   * `isCalm` false, perhaps without named work.
   */
  async reached(held: number): Promise<Omit<LifeStatus, 'next' | 'calls'>> {
    let calm = 0
    const until = process.hrtime.bigint() + BigInt(patience * 1e6)
    while (calm < calmTurns && (calm > 0 || process.hrtime.bigint() < until)) {
      if (this.#requests.size === held && this.#others().length === 0) {
        calm += 1
        await new Promise(resolve => real.setImmediate(resolve))
      } else {
        calm = 0
        await this.#somethingEnds()
      }
    }
    return { isCalm: calm === calmTurns, requests: [...this.#requests], others: this.#others() }
  }

  async #watched<Result>(names: Set<string>, what: string, work: Promise<Result>): Promise<Result> {
    this.#count += 1
    const name = `${this.#count} ${what}`
    names.add(name)
    try {
      return await work
    } finally {
      names.delete(name)
      this.#wake()
    }
  }

  #somethingEnds(): Promise<void> {
    return new Promise(resolve => {
      const timer = real.setTimeout(resolve, checkInterval)
      this.#wake = () => {
        real.clearTimeout(timer)
        resolve()
      }
    })
  }

  #others(): string[] {
    const files = process.getActiveResourcesInfo().filter(name => name.startsWith('FSReq'))
    const sockets = [...this.#sockets].map(({ remotePort }) => `a socket to ${remotePort}`)
    return [...this.#works, ...files, ...sockets]
  }
}
