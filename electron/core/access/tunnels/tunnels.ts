import type { AccountId } from '../../../contract/ids.ts'
import { type TunnelView, tunnelKey } from '../../../contract/instance/tunnel.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import { openTunnel, type Tunnel } from '../../../ssh/tunnels/tunnel.ts'
import { problemOf } from '../../app/problems.ts'
import type { Store } from '../../state/store.ts'
import type { Access, InstanceTarget } from '../access.ts'
import type { Purpose, Ready } from './purpose.ts'

/** The tunnels of all accounts. Their progress is in State. */
export interface Tunnels {
  /**
   * The address of a tunnel, made where there is none; asked again while it is being made, the same is awaited.
   * Throws what getting in throws, what its purpose throws, `no_free_port`, and `tunnel_closed` when it is closed
   * meanwhile.
   */
  open(target: () => InstanceTarget, purpose: Purpose): Promise<string | undefined>
  /** A browser was given this address of a tunnel. Where it does not come by the name, 127.0.0.1 is offered. */
  expectBrowser(url: string): void
  closeOne(account: AccountId, instance: number, port: number): Promise<void>
  /** The instance has gone. */
  drop(account: AccountId, instance: number): Promise<void>
  close(): Promise<void>
}

export interface TunnelsNeeds {
  store: Store
  clock: Clock
  random: Random
  access: Pick<Access, 'connect'>
}

interface Entry {
  account: AccountId
  view: TunnelView
  abort: AbortController
  tunnel: Tunnel | undefined
  address: Promise<string | undefined>
  /** A browser came by its name. */
  reachedByName: boolean
  cancelWait: () => void
}

/** Milliseconds in which a browser that was given a tunnel's address asks for its page. */
const browserComesWithin = 10_000
/** Hexadecimal digits in a tunnel's name: more than anybody can try. */
const nameDigits = 16

export function createTunnels({ store, clock, random, access }: TunnelsNeeds): Tunnels {
  const entries = new Map<string, Entry>()
  /** The host name and the local port that each had in this run: a page that is still open finds its tunnel again. */
  const localNames = new Map<string, string>()
  const lastPorts = new Map<string, number>()
  /** The user's browser came by a fallback, and by no name since: further tunnels begin with theirs. */
  let browserLacksNames = false

  const nameOf = (account: AccountId, instance: number, port: number) =>
    `${account}/${tunnelKey(instance, port)}`

  function localNameOf({ account, view }: Entry): string {
    const key = nameOf(account, view.instance, view.port)
    const name = localNames.get(key) ?? `i${view.instance}-${random.hex(nameDigits)}.localhost`
    localNames.set(key, name)
    return name
  }

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

  async function make(
    entry: Entry,
    target: () => InstanceTarget,
    purpose: Purpose,
  ): Promise<string | undefined> {
    const { signal } = entry.abort
    const making = { signal, step: (step: TunnelView['step']) => change(entry, { step }) }
    // Held until the tunnel has its own share, so that one connection does for both.
    const lease = await access.connect(target())
    try {
      if (purpose.locate) move(entry, await orAborted(purpose.locate(lease, making), signal))
      const tunnel = await dig(entry, target)
      const ready = await orAborted(purpose.ready(tunnel, making), signal)
      return showReady(entry, ready)
    } finally {
      lease.release()
    }
  }

  function showReady(entry: Entry, { local, url }: Ready): string | undefined {
    const { account, view } = entry
    lastPorts.set(nameOf(account, view.instance, view.port), local.port)
    change(entry, { step: 'open', host: local.host, localPort: local.port, web: url !== undefined })
    return url
  }

  /** A request came to a web page: whether the browser resolves names is known by it. */
  function noteRequest(entry: Entry, by: 'name' | 'address'): void {
    if (by === 'name' && !entry.reachedByName) {
      entry.reachedByName = true
      entry.cancelWait()
      browserLacksNames = false
      if (entry.view.fallback) withdrawFallback(entry)
    } else if (by === 'address' && entry.view.fallback === 'offered') {
      browserLacksNames = true
      change(entry, { fallback: 'taken' })
    }
  }

  function offerFallback(entry: Entry): void {
    entry.tunnel?.acceptAddress(true)
    change(entry, { host: '127.0.0.1', fallback: 'offered' })
  }

  /** The browser was slow, and does resolve names. */
  function withdrawFallback(entry: Entry): void {
    entry.tunnel?.acceptAddress(false)
    const { fallback: _, ...view } = entry.view
    entry.view = { ...view, host: localNameOf(entry) }
    show(entry)
  }

  async function dig(entry: Entry, target: () => InstanceTarget): Promise<Tunnel> {
    const { port } = entry.view
    const name = nameOf(entry.account, entry.view.instance, port)
    // Losses while it is being made are told by the step it is at.
    const made = () => entry.view.step === 'open' || entry.view.step === 'reconnecting'
    const tunnel = await openTunnel({
      clock,
      connect: async () => access.connect(target()),
      port,
      preferred: lastPorts.get(name),
      random: random.fraction,
      name: localNameOf(entry),
      lost: problem => made() && change(entry, { step: 'reconnecting', problem }),
      back: () => made() && change(entry, { step: 'open' }),
      asked: by => noteRequest(entry, by),
      idle: () => void end(entry),
    })
    if (entry.abort.signal.aborted) {
      await tunnel.close()
      throw closed()
    }
    entry.tunnel = tunnel
    if (browserLacksNames) {
      tunnel.acceptAddress(true)
      change(entry, { fallback: 'taken' })
    }
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

  function begin(target: () => InstanceTarget, purpose: Purpose): Entry {
    const { account, instance } = target()
    const { kind, name, port } = purpose
    const entry: Entry = {
      account,
      view: { instance: instance.id, kind, name, port, step: 'connecting' },
      abort: new AbortController(),
      tunnel: undefined,
      address: Promise.resolve(undefined),
      reachedByName: false,
      cancelWait: () => undefined,
    }
    entries.set(nameOf(account, instance.id, port), entry)
    show(entry)
    entry.address = make(entry, target, purpose)
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
    entry.cancelWait()
    const name = nameOf(account, view.instance, view.port)
    if (entries.get(name) === entry) {
      entries.delete(name)
      hide(entry)
    }
    await entry.tunnel?.close()
  }

  return {
    async open(target, purpose) {
      const { account, instance } = target()
      const before = find(account, instance.id, purpose)
      if (!before) return begin(target, purpose).address
      const { step } = before.view
      if (step === 'failed') {
        await end(before)
        return begin(target, purpose).address
      }
      if (!before.tunnel || (step !== 'open' && step !== 'reconnecting')) return before.address
      // What is behind it may have changed since: Jupyter's token, or whether it is a web page at all.
      const { signal } = before.abort
      const ready = purpose.ready(before.tunnel, { signal, step: () => undefined })
      return showReady(before, await orAborted(ready, signal))
    },
    expectBrowser(url) {
      const { host } = new URL(url)
      const entry = [...entries.values()].find(({ view }) => `${view.host}:${view.localPort}` === host)
      if (!entry || entry.reachedByName || entry.view.fallback) return
      entry.cancelWait()
      entry.cancelWait = clock.after(browserComesWithin, () => offerFallback(entry))
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
