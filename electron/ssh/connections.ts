import { BerthError } from '../contract/problem.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Programs } from '../ports/programs.ts'
import { type Addresses, type Candidate, candidates, sameAddress } from './addresses.ts'
import { greets } from './dial.ts'
import { type Entrance, getIn } from './get-in.ts'
import { type Keys, openKeys } from './keys.ts'
import { type KnownHosts, openKnownHosts } from './known-hosts.ts'
import { openShellOn, type Shell } from './shell.ts'
import { sshCommand } from './ssh-command.ts'
import { closedHere, timedOut } from './ssh-problems.ts'
import { findTerminals, openSystemTerminal, type Terminal } from './system-terminal.ts'

/** Which instance, how to reach it, and with which key. */
export interface Target {
  account: string
  instance: number
  addresses: Addresses
  /** Whether its runtype has Jupyter: some deployments then mean the proxy's next port. */
  jupyterRuntype: boolean
  /** `berth`, or the name of a key in `~/.ssh`. */
  keyName: string
  /** Milliseconds until it must be done, however many addresses are tried. */
  deadlineMs: number
}

/** A share in an instance's connection, for whatever runs over it. The last one to release it closes it. */
export interface Lease extends Entrance {
  release(): void
}

export interface Ssh {
  readonly keys: Keys
  readonly knownHosts: KnownHosts
  /**
   * A shell of the given size. Throws `bad_address`, `key_missing`, `key_locked`, `key_unusable`, `key_refused`,
   * `host_key_changed`, `ssh_unreachable`, `ssh_timeout`, `ssh_closed` or `shell_refused`.
   */
  openShell(options: Target & { columns: number; rows: number }): Promise<Shell>
  /** A share in the instance's connection, which is made where there is none. Throws as `openShell` does. */
  connect(target: Target): Promise<Lease>
  /** The first way on which an SSH server greets. Throws what the last of them threw. */
  probe(target: Pick<Target, 'addresses' | 'jupyterRuntype' | 'deadlineMs'>): Promise<Candidate>
  /** The system's ssh and its arguments, for the address in use or else the first one. Throws as `openShell` does. */
  command(target: Omit<Target, 'deadlineMs'>): Promise<string[]>
  /** The terminal programs on this machine. */
  terminals(): Promise<Terminal[]>
  /** Opens one of them, or with an empty id the first, on an instance. Throws `no_terminal` and as `command` does. */
  openSystemTerminal(target: Omit<Target, 'deadlineMs'>, terminal: string): Promise<void>
  /** The instance has gone: its connections end and its host key is forgotten. */
  drop(account: string, instance: number): Promise<void>
  /** Ends everything. */
  close(): Promise<void>
}

/** `home` is the user's home folder, where `.ssh` lies. */
export interface SshNeeds {
  files: Files
  programs: Programs
  clock: Clock
  home: string
  platform: 'linux' | 'darwin' | 'win32'
}

/** An instance's connection, being made or there, and how many share it. */
interface Shared {
  of: string
  keyName: string
  entrance: Promise<Entrance>
  open: Entrance | undefined
  shares: number
  abort: AbortController
}

/** Milliseconds for which a channel on a connection that is shared may fail to open before a fresh one is made. */
const patience = 3000

export function createSsh({ files, programs, clock, home, platform }: SshNeeds): Ssh {
  const keys = openKeys(files, home)
  const knownHosts = openKnownHosts(files)
  /** Those that take further shares; one that has failed once is no longer in here but lives on for its channels. */
  const sharable = new Map<string, Shared>()
  const all = new Set<Shared>()
  const closing = new AbortController()

  function begin(target: Target, ways: readonly Candidate[]): Shared {
    const { account, instance, keyName, deadlineMs } = target
    const abort = new AbortController()
    const make = async () => {
      const key = await keys.load(keyName)
      const limits = { clock, within: deadlineMs, signal: abort.signal }
      return getIn(ways, { account, instance, key, knownHosts }, limits)
    }
    const shared: Shared = { of: of(target), keyName, entrance: make(), open: undefined, shares: 0, abort }
    all.add(shared)
    sharable.set(shared.of, shared)
    shared.entrance.then(
      entrance => {
        shared.open = entrance
        entrance.connection.lost.then(() => retire(shared))
        if (shared.shares === 0) entrance.connection.close() // nobody waits for it any more
      },
      () => retire(shared),
    )
    return shared
  }

  function retire(shared: Shared): void {
    all.delete(shared)
    if (sharable.get(shared.of) === shared) sharable.delete(shared.of)
  }

  /** A connection that is there or under way, unless it goes where the service no longer points, or by another key. */
  function current(target: Target, ways: readonly Candidate[]): Shared | undefined {
    const shared = sharable.get(of(target))
    if (shared === undefined || shared.keyName !== target.keyName) return undefined
    const at = shared.open?.candidate.address
    return at === undefined || ways.some(way => sameAddress(way.address, at)) ? shared : undefined
  }

  async function share(shared: Shared, deadlineMs: number): Promise<Lease> {
    shared.shares++
    let released = false
    const release = () => {
      if (released) return
      released = true
      shared.shares--
      if (shared.shares > 0) return
      retire(shared)
      if (shared.open === undefined) shared.abort.abort(closedHere())
      else shared.open.connection.close()
    }
    try {
      return { ...(await within(shared.entrance, deadlineMs)), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Rejects with `ssh_timeout` when it takes longer than so many milliseconds. */
  function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(milliseconds, () => reject(timedOut(undefined)))
      work.then(resolve, reject).finally(cancel)
    })
  }

  async function connect(target: Target): Promise<Lease> {
    if (closing.signal.aborted) throw closedHere()
    const ways = candidates(target.addresses, target.jupyterRuntype)
    return share(current(target, ways) ?? begin(target, ways), target.deadlineMs)
  }

  async function shellOn(lease: Lease, size: { columns: number; rows: number }, ms: number): Promise<Shell> {
    const opening = openShellOn(lease.connection, lease.candidate.way === 'direct', size)
    try {
      const shell = await within(opening, ms)
      shell.ended.then(lease.release)
      return shell
    } catch (error) {
      lease.release()
      opening.then(
        late => late.close(),
        () => {},
      )
      throw error
    }
  }

  async function command(target: Omit<Target, 'deadlineMs'>): Promise<string[]> {
    const { account, instance } = target
    const inUse = sharable.get(of(target))?.open?.candidate
    const way = inUse ?? candidates(target.addresses, target.jupyterRuntype)[0]
    if (way === undefined) throw closedHere()
    const { path } = await keys.locate(target.keyName)
    return sshCommand({
      account,
      instance,
      address: way.address,
      keyPath: path,
      knownHostsPath: knownHosts.path,
    })
  }

  return {
    keys,
    knownHosts,
    connect,
    command,
    terminals: () => findTerminals(programs, platform),
    async openSystemTerminal(target, terminal) {
      await openSystemTerminal({ programs, platform }, terminal, await command(target))
    },
    async openShell(options) {
      const start = clock.monotonic()
      const left = () => Math.max(0, options.deadlineMs - (clock.monotonic() - start))
      const before = sharable.get(of(options))
      const lease = await connect(options)
      const wasShared = before?.open !== undefined && before.open.connection === lease.connection
      try {
        return await shellOn(lease, options, wasShared ? Math.min(patience, left()) : left())
      } catch (error) {
        // The server's limit of channels is reached, or the connection is dead and nobody has noticed yet.
        if (!wasShared || left() === 0 || closing.signal.aborted) throw error
        if (before !== undefined && sharable.get(before.of) === before) sharable.delete(before.of)
        const fresh = await connect({ ...options, deadlineMs: left() })
        return shellOn(fresh, options, left())
      }
    },
    async probe({ addresses, jupyterRuntype, deadlineMs }) {
      const start = clock.monotonic()
      const ways = candidates(addresses, jupyterRuntype)
      let last: unknown
      for (const [index, way] of ways.entries()) {
        const left = Math.max(0, deadlineMs - (clock.monotonic() - start))
        const limits = { clock, within: left / (ways.length - index), signal: closing.signal }
        try {
          await greets(way.address, limits)
          return way
        } catch (error) {
          last = error
          if (closing.signal.aborted) break
        }
      }
      throw last instanceof Error ? last : new BerthError(closedHere().problem)
    },
    async drop(account, instance) {
      await Promise.all([...all].filter(shared => shared.of === of({ account, instance })).map(end))
      await knownHosts.forget(account, instance)
    },
    async close() {
      closing.abort(closedHere())
      await Promise.all([...all].map(end))
    },
  }

  async function end(shared: Shared): Promise<void> {
    retire(shared)
    shared.abort.abort(closedHere())
    const entrance = await shared.entrance.catch(() => undefined)
    entrance?.connection.close()
    await entrance?.connection.lost
  }
}

function of({ account, instance }: { account: string; instance: number }): string {
  return `${account}/${instance}`
}
