import type { Clock, Random } from '#platform/platform.ts'
import { orAborted, sleep } from '#platform/tasks.ts'
import type { AccountId } from '#shared/ids.ts'
import { type TunnelView, tunnelKey } from '#shared/instance/tunnel.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { type LocalAddress, openTunnel, type Tunnel } from '#ssh/tunnels/tunnel.ts'
import { problemOf } from '../bridge/problems.ts'
import type { Store } from '../storage/store.ts'
import type { Access } from './access.ts'
import type { InstanceTarget } from './connect-with-key.ts'

export interface TunnelsNeeds {
  store: Store
  clock: Clock
  random: Random
  access: Pick<Access, 'connect'>
}

/** The state that all tunnels share. */
export interface TunnelsContext extends TunnelsNeeds {
  /** All tunnels, by key. */
  all: Map<string, InstanceTunnel>
  /** The local port of each tunnel since the start, so that programs find a plain forward again. */
  lastPorts: Map<string, number>
}

/** Hexadecimal digits in a tunnel's name and in its secret, too many to guess. */
const nameDigits = 16
const secretDigits = 64

/** One tunnel into an instance, from the request until it is closed. Its progress is in State. */
export class InstanceTunnel {
  readonly account: AccountId
  readonly #context: TunnelsContext
  readonly #target: () => InstanceTarget
  readonly #abort = new AbortController()
  #view: TunnelView
  #tunnel: Tunnel | undefined
  #address: Promise<string | undefined>

  /** Begins to open the tunnel. */
  constructor(context: TunnelsContext, target: () => InstanceTarget, purpose: Purpose) {
    const { account, instance } = target()
    const { kind, name, port } = purpose
    this.account = account
    this.#context = context
    this.#target = target
    this.#view = { instance: instance.id, kind, name, port, step: 'connecting' }
    context.all.set(this.#key, this)
    this.#show()
    this.#address = this.#make(purpose)
    this.#address.catch(error => this.#fail(error))
  }

  get view(): TunnelView {
    return this.#view
  }

  get #key(): string {
    return keyOf(this.account, this.#view.instance, this.#view.port)
  }

  /** Waits for the address; for an open tunnel, checks the service behind it again. */
  async address(purpose: Purpose): Promise<string | undefined> {
    const { step } = this.#view
    if (!this.#tunnel || (step !== 'open' && step !== 'reconnecting')) return this.#address
    // The answer may have changed since: Jupyter's token or port, or whether there is a web server.
    const { signal } = this.#abort
    const making = { signal, step: () => undefined }
    const port = await orAborted(purpose.locate?.(making) ?? Promise.resolve(this.#view.port), signal)
    if (port !== this.#view.port) {
      await this.end()
      return new InstanceTunnel(this.#context, this.#target, { ...purpose, port }).address(purpose)
    }
    return this.#showReady(this.#tunnel, await orAborted(purpose.ready(this.#tunnel, making), signal))
  }

  async end(): Promise<void> {
    const { all } = this.#context
    this.#abort.abort(new BerthError(closed))
    if (all.get(this.#key) === this) {
      all.delete(this.#key)
      this.#hide()
    }
    await this.#tunnel?.close()
  }

  async #make(purpose: Purpose): Promise<string | undefined> {
    const { signal } = this.#abort
    const making = { signal, step: (step: TunnelView['step']) => this.#change({ step }) }
    // Held until the tunnel has its own lease, so that both share one connection.
    const lease = await this.#context.access.connect(this.#target())
    try {
      if (purpose.locate) this.#move(await orAborted(purpose.locate(making), signal))
      const tunnel = await this.#openTunnel()
      return this.#showReady(tunnel, await orAborted(purpose.ready(tunnel, making), signal))
    } finally {
      lease.release()
    }
  }

  /** Changes to the port where the service was found. */
  #move(port: number): void {
    if (port === this.#view.port) return
    const { all } = this.#context
    this.#hide()
    all.delete(this.#key)
    this.#view = { ...this.#view, port }
    const other = all.get(this.#key)
    all.set(this.#key, this)
    if (other) void other.end()
    this.#show()
  }

  async #openTunnel(): Promise<Tunnel> {
    const { clock, random, access, lastPorts } = this.#context
    // While the tunnel is being opened, its step already shows a lost connection.
    const made = () => this.#view.step === 'open' || this.#view.step === 'reconnecting'
    const tunnel = await openTunnel({
      clock,
      connect: async () => access.connect(this.#target()),
      port: this.#view.port,
      preferred: lastPorts.get(this.#key),
      random: random.fraction,
      drawEntry: () => ({
        name: `i${this.#view.instance}-${random.hex(nameDigits)}.localhost`,
        secret: random.hex(secretDigits),
      }),
      lost: problem => made() && this.#change({ step: 'reconnecting', problem }),
      back: () => made() && this.#change({ step: 'open' }),
      reached: () => this.#noteBrowser(),
      idle: () => void this.end(),
    })
    if (this.#abort.signal.aborted) {
      await tunnel.close()
      throw new BerthError(closed)
    }
    this.#tunnel = tunnel
    return tunnel
  }

  /** Failed tunnels stay in State until they are tried again or dismissed. */
  #fail(error: unknown): void {
    this.#change({ step: 'failed', problem: problemOf(error) })
    void this.#tunnel?.close()
    this.#tunnel = undefined
  }

  #noteBrowser(): void {
    if (this.#view.reached || this.#abort.signal.aborted) return
    this.#view = { ...this.#view, reached: true }
    this.#show()
  }

  /** Gives the address for the browser. Only the user decides that it is at 127.0.0.1, nothing that anyone asks for. */
  #showReady(tunnel: Tunnel, { local, url }: Ready): string | undefined {
    this.#context.lastPorts.set(this.#key, local.port)
    this.#change({ step: 'open', host: local.host, localPort: local.port, web: url !== undefined })
    const { tunnelsAtLoopback } = this.#context.store.get().settings
    return url !== undefined && tunnelsAtLoopback ? tunnel.atLoopback(url) : url
  }

  #change(changes: Partial<TunnelView>): void {
    if (this.#abort.signal.aborted) return
    const { problem: _, ...view } = this.#view
    this.#view = { ...view, ...changes }
    this.#show()
  }

  #show(): void {
    this.#context.store.change(draft => {
      const target = draft.accounts[this.account]
      if (target) target.tunnels[tunnelKey(this.#view.instance, this.#view.port)] = this.#view
    })
  }

  #hide(): void {
    this.#context.store.change(draft => {
      const target = draft.accounts[this.account]
      if (target) delete target.tunnels[tunnelKey(this.#view.instance, this.#view.port)]
    })
  }
}

/** A tunnel's key among those of all accounts. */
export function keyOf(account: AccountId, instance: number, port: number): string {
  return `${account}/${tunnelKey(instance, port)}`
}

const closed: Problem = { code: 'tunnel_closed', message: 'The tunnel was closed.' }

/** A tunnel's purpose: finds and prepares the service behind it. */
export interface Purpose {
  kind: TunnelView['kind']
  name: string
  /** The usual port inside the instance. */
  port: number
  /** Finds the service's port in this instance. */
  locate?(making: Making): Promise<number>
  /** Makes the service ready. Returns the local address, and the URL where a browser can show it. */
  ready(tunnel: Tunnel, making: Making): Promise<Ready>
}

interface Ready {
  local: LocalAddress
  url?: string
}

/** The opening of a tunnel, as its purpose sees it. */
interface Making {
  /** Aborted when the tunnel is closed before it is ready. */
  signal: AbortSignal
  step(step: TunnelView['step']): void
}

/**
 * Tries every `pause` milliseconds until there is an answer; undefined when there is none after `atMost` milliseconds.
 * Rejects when a try does, and with the signal's reason.
 */
export async function patientlyEvery<T>(
  pause: number,
  { clock, signal, atMost }: { clock: Clock; signal: AbortSignal; atMost: number },
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  signal.throwIfAborted()
  const start = clock.monotonic()
  for (;;) {
    const answer = await attempt()
    if (answer !== undefined || clock.monotonic() - start >= atMost) return answer
    await sleep(clock, pause, signal)
  }
}

export type Tunnels = ReturnType<typeof createTunnels>

/** The tunnels of all accounts. Their progress is in State. */
export function createTunnels(needs: TunnelsNeeds) {
  const all = new Map<string, InstanceTunnel>()
  const context = { ...needs, all, lastPorts: new Map<string, number>() }

  function find(
    account: AccountId,
    instance: number,
    { kind, name, port }: Purpose,
  ): InstanceTunnel | undefined {
    return [...all.values()].find(
      ({ account: of, view }) =>
        of === account &&
        view.instance === instance &&
        (view.port === port || (kind !== 'port' && view.kind === kind && view.name === name)),
    )
  }

  return {
    /**
     * The address of a tunnel, opened if there is none; while it is being opened, callers await the same one. Throws the
     * errors of connecting and of its purpose, `no_free_port`, and `tunnel_closed` when it is closed meanwhile.
     */
    async open(target: () => InstanceTarget, purpose: Purpose): Promise<string | undefined> {
      const { account, instance } = target()
      const before = find(account, instance.id, purpose)
      if (before && before.view.step !== 'failed') return before.address(purpose)
      if (before) await before.end()
      return new InstanceTunnel(context, target, purpose).address(purpose)
    },
    async closeOne(account: AccountId, instance: number, port: number): Promise<void> {
      await all.get(keyOf(account, instance, port))?.end()
    },
    /** The instance is gone. */
    async drop(account: AccountId, instance: number): Promise<void> {
      const gone = [...all.values()].filter(
        ({ account: of, view }) => of === account && view.instance === instance,
      )
      await Promise.all(gone.map(tunnel => tunnel.end()))
    },
    async close(): Promise<void> {
      await Promise.all([...all.values()].map(tunnel => tunnel.end()))
    },
  }
}
