import type { AccountId } from '../../contract/ids.ts'
import { type TunnelView, tunnelKey } from '../../contract/instance/tunnel.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Lease } from '../../ssh/connection/sharing.ts'
import { openTunnel, type Tunnel } from '../../ssh/tunnels/tunnel.ts'
import type { Access, Door } from '../access/access.ts'
import { problemOf } from '../problems.ts'
import type { Store } from '../store.ts'

/** What is asked of a tunnel, once there is one: to find out what is behind it, and give its address. */
export interface Purpose {
  kind: TunnelView['kind']
  name: string
  /** The port inside the instance, where it is usually. */
  port: number
  /** Finds out where it is in this instance. */
  locate?(lease: Lease, making: Making): Promise<number>
  /** Makes it ready for use. Gives the address for the browser, if one can show it. */
  ready(tunnel: Tunnel, making: Making): Promise<string | undefined>
}

/** A tunnel in the making, as its purpose sees it. */
export interface Making {
  /** Aborted when it is closed before it is ready. */
  signal: AbortSignal
  step(step: TunnelView['step']): void
}

/** The tunnels of all accounts. Their progress is in State. */
export interface Tunnels {
  /**
   * The address of a tunnel, made where there is none; asked again while it is being made, the same is awaited.
   * Throws what getting in throws, what its purpose throws, `no_free_port`, and `tunnel_closed` when it is closed
   * meanwhile.
   */
  open(door: () => Door, purpose: Purpose): Promise<string | undefined>
  closeOne(account: AccountId, instance: number, port: number): Promise<void>
  /** The instance has gone. */
  drop(account: AccountId, instance: number): Promise<void>
  close(): Promise<void>
}

export interface TunnelsNeeds {
  store: Store
  clock: Clock
  /** From 0 up to 1. */
  random: () => number
  access: Pick<Access, 'connect'>
  /** Ports of this machine that no tunnel may have. */
  reservedPorts: readonly number[]
}

interface Entry {
  account: AccountId
  view: TunnelView
  abort: AbortController
  tunnel: Tunnel | undefined
  address: Promise<string | undefined>
}

export function createTunnels({ store, clock, random, access, reservedPorts }: TunnelsNeeds): Tunnels {
  const entries = new Map<string, Entry>()
  /** The local port that each had last in this run: a page that is still open finds its tunnel again. */
  const lastPorts = new Map<string, number>()
  const reserved = new Set(reservedPorts)

  const nameOf = (account: AccountId, instance: number, port: number) =>
    `${account}/${tunnelKey(instance, port)}`

  function find(account: AccountId, instance: number, { kind, port }: Purpose): Entry | undefined {
    return [...entries.values()].find(
      ({ account: of, view }) =>
        of === account &&
        view.instance === instance &&
        (view.port === port || (kind === 'jupyter' && view.kind === kind)),
    )
  }

  function show({ account, view }: Entry): void {
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.tunnels[tunnelKey(view.instance, view.port)] = view
    })
  }

  function hide({ account, view }: Entry): void {
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) delete target.tunnels[tunnelKey(view.instance, view.port)]
    })
  }

  function change(entry: Entry, changes: Partial<TunnelView>): void {
    if (entry.abort.signal.aborted) return
    const { problem: _, ...view } = entry.view
    entry.view = { ...view, ...changes }
    show(entry)
  }

  async function make(entry: Entry, door: () => Door, purpose: Purpose): Promise<string | undefined> {
    const { signal } = entry.abort
    const making = { signal, step: (step: TunnelView['step']) => change(entry, { step }) }
    // Held until the tunnel has its own share, so that one connection does for both.
    const lease = await access.connect(door())
    try {
      if (purpose.locate) move(entry, await orAborted(purpose.locate(lease, making), signal))
      const tunnel = await dig(entry, door)
      const address = await orAborted(purpose.ready(tunnel, making), signal)
      change(entry, { step: 'open', localPort: tunnel.localPort, web: address !== undefined })
      return address
    } finally {
      lease.release()
    }
  }

  async function dig(entry: Entry, door: () => Door): Promise<Tunnel> {
    const { port } = entry.view
    const name = nameOf(entry.account, entry.view.instance, port)
    // Losses while it is being made are told by the step it is at.
    const made = () => entry.view.step === 'open' || entry.view.step === 'reconnecting'
    const tunnel = await openTunnel({
      clock,
      connect: async () => access.connect(door()),
      port,
      reserved,
      preferred: lastPorts.get(name),
      random,
      lost: problem => made() && change(entry, { step: 'reconnecting', problem }),
      back: () => made() && change(entry, { step: 'open' }),
      idle: () => void end(entry),
    })
    if (entry.abort.signal.aborted) {
      await tunnel.close()
      throw closed()
    }
    entry.tunnel = tunnel
    lastPorts.set(name, tunnel.localPort)
    return tunnel
  }

  /** It is at another port than usual. */
  function move(entry: Entry, port: number): void {
    if (port === entry.view.port) return
    const { account, view } = entry
    hide(entry)
    entries.delete(nameOf(account, view.instance, view.port))
    entry.view = { ...view, port }
    const name = nameOf(account, view.instance, port)
    const other = entries.get(name)
    entries.set(name, entry)
    if (other) void end(other)
    show(entry)
  }

  function begin(door: () => Door, purpose: Purpose): Entry {
    const { account, instance } = door()
    const { kind, name, port } = purpose
    const entry: Entry = {
      account,
      view: { instance: instance.id, kind, name, port, step: 'connecting' },
      abort: new AbortController(),
      tunnel: undefined,
      address: Promise.resolve(undefined),
    }
    entries.set(nameOf(account, instance.id, port), entry)
    show(entry)
    entry.address = make(entry, door, purpose)
    entry.address.catch(error => fail(entry, problemOf(error)))
    return entry
  }

  /** What failed stays to be read until it is tried again or dismissed. */
  function fail(entry: Entry, problem: Problem): void {
    change(entry, { step: 'failed', problem })
    void entry.tunnel?.close()
    entry.tunnel = undefined
  }

  async function end(entry: Entry): Promise<void> {
    const { account, view, abort } = entry
    abort.abort(closed())
    const name = nameOf(account, view.instance, view.port)
    if (entries.get(name) === entry) {
      entries.delete(name)
      hide(entry)
    }
    await entry.tunnel?.close()
  }

  return {
    async open(door, purpose) {
      const { account, instance } = door()
      const before = find(account, instance.id, purpose)
      if (!before) return begin(door, purpose).address
      const { step } = before.view
      if (step === 'failed') {
        await end(before)
        return begin(door, purpose).address
      }
      if (!before.tunnel || (step !== 'open' && step !== 'reconnecting')) return before.address
      // What is behind it may have changed since: Jupyter's token, or whether it is a web page at all.
      const { signal } = before.abort
      return orAborted(purpose.ready(before.tunnel, { signal, step: () => undefined }), signal)
    },
    async closeOne(account, instance, port) {
      const entry = entries.get(nameOf(account, instance, port))
      if (entry) await end(entry)
    },
    async drop(account, instance) {
      const gone = [...entries.values()].filter(
        entry => entry.account === account && entry.view.instance === instance,
      )
      await Promise.all(gone.map(end))
    },
    async close() {
      await Promise.all([...entries.values()].map(end))
    },
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function closed(): BerthError {
  return new BerthError({ code: 'tunnel_closed', message: 'The tunnel was closed.' })
}
