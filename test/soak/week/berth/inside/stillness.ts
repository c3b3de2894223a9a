import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { LifeStatus } from '../messages.ts'

/** Real timers, taken before the process lives by another time. */
const real = { setTimeout, clearTimeout, setImmediate }

/** Turns of the loop in which nothing may happen: what one thing leads to at once is over by then. */
const calmTurns = 4
/** Real milliseconds after which it is said what is still under way, for the service may wait for a step of time. */
const patience = 25
/** Real milliseconds between two polls at what is not told when it ends. */
const checkInterval = 2

/** Knows what this process has under way: requests, ways to SSH, files. Time may only move while it has nothing. */
export class Stillness {
  readonly #requests = new Set<string>()
  readonly #works = new Set<string>()
  readonly #sockets = new Set<Socket>()
  #count = 0
  #wake: () => void = () => undefined

  /** A request, until its whole answer is here. */
  async request<Result>(name: string, work: Promise<Result>): Promise<Result> {
    return this.#watched(this.#requests, name, work)
  }

  /** Anything else. */
  async work<Result>(name: string, work: Promise<Result>): Promise<Result> {
    return this.#watched(this.#works, name, work)
  }

  /** Sockets to anything but the service count until they are closed. */
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
   * Resolves once nothing is under way but so many requests, with what is under way. Where that does not come to be
   * within a moment it resolves all the same: not calm then, though nothing may be under way by name.
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
