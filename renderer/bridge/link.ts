import type { Berth } from '#contract/commands.ts'
import type { Bridge, MainMessage } from '#contract/messages.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import { Replica } from './replica.ts'
import { type Reach, SocketBridge } from './socket.ts'
import { PageStream } from './stream.ts'

declare global {
  interface Window {
    /** Set by Electron's preload; absent in browser mode. */
    berth?: Bridge
  }
}

/** Receivers of the main process's messages. */
export interface Follower {
  /** Undefined until the main process has sent it. */
  state: State | undefined
  reach: Reach
}

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

/** The page's connection to the main process, which may have answered before anybody follows it. */
export interface PageConnection {
  readonly link: BerthLink
  /** Tells the follower how things are, and from then on how they change. */
  follow(follower: Follower): void
}

/** Connects the page to the main process. Undefined where the page has neither a preload nor a token. */
export function connect(): PageConnection | undefined {
  let current: Follower = { state: undefined, reach: 'connecting' }
  const onState = (state: State) => {
    current.state = state
  }
  const connection = (link: BerthLink): PageConnection => {
    link.open()
    return {
      link,
      follow(follower) {
        follower.state = current.state
        follower.reach = current.reach
        current = follower
      },
    }
  }

  if (window.berth) {
    current.reach = 'connected'
    return connection(new BerthLink(window.berth, onState))
  }
  const token = takeToken(window)
  if (token === undefined) return undefined
  const secure = location.protocol === 'https:' ? 'wss' : 'ws'
  const socket = new SocketBridge(`${secure}://${location.host}/socket`, token, reach => {
    current.reach = reach
    if (reach === 'ended') forgetToken(window)
    if (reach === 'connected') link.sync()
    else link.drop()
  })
  const link = new BerthLink(socket, onState)
  return connection(link)
}

/** The sessionStorage entry that keeps the token for a reload of this tab; other tabs cannot see it. */
const tokenKey = 'berth-token'

/**
 * The browser mode's token. It comes in the address's fragment, which is cleared at once so that it is neither
 * seen nor bookmarked. Undefined when the page was opened without it.
 */
export function takeToken(page: Pick<Window, 'location' | 'history' | 'sessionStorage'>): string | undefined {
  const fragment = page.location.hash.slice(1)
  if (fragment === '' || fragment.startsWith('/')) return page.sessionStorage.getItem(tokenKey) ?? undefined
  page.sessionStorage.setItem(tokenKey, fragment)
  page.history.replaceState(null, '', '#/')
  return fragment
}

/** Deletes the token, once the Berth that it belongs to has ended. */
function forgetToken(page: Pick<Window, 'sessionStorage'>): void {
  page.sessionStorage.removeItem(tokenKey)
}
