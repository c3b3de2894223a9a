import type { Clock } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import type { Keys } from '../keys/keys.ts'
import { type Addresses, type Candidate, candidates, sameAddress } from './addresses.ts'
import type { Connection, ConnectionAttempt } from './connection.ts'
import type { DialTimeouts } from './dial.ts'
import type { KnownHosts } from './known-hosts.ts'
import { closedHere, timedOut } from './ssh-problems.ts'

/** Which instance, how to reach it, and with which key. */
export interface Target {
  account: string
  instance: number
  addresses: Addresses
  /** Whether its runtype has Jupyter; some deployments then mean the port after the proxy's. */
  jupyterRuntype: boolean
  /** One of the account's keys, by its name. */
  keyName: string
  /** Milliseconds to connect, over all the addresses that are tried. */
  deadlineMs: number
  /** The mark with which Berth rented it; undefined if it didn't. */
  mark?: string
}

/** A lease of an instance's connection. Releasing the last lease closes the connection. */
export interface SharedConnection extends Entrance {
  /** Whether the connection already existed. */
  found: boolean
  release(): void
}

/** An instance's connection, open or being opened, with its number of leases. */
interface Shared {
  of: string
  keyName: string
  entrance: Promise<Entrance>
  open: Entrance | undefined
  shares: number
  abort: AbortController
}

/** Called with the address and host key of a new connection; with undefined once an instance's last one has ended. */
export type WayListener = (
  account: string,
  instance: number,
  way: Candidate | undefined,
  hostKey?: Connection['hostKey'],
) => void

/** One shared connection per account and instance. */
export function shareConnections(
  keysOf: (account: string) => Keys,
  knownHosts: KnownHosts,
  clock: Clock,
  onWay: WayListener = () => undefined,
) {
  /** Connections that give further leases, by account and instance. */
  const sharable = new Map<string, Shared>()
  /** All connections, including retired ones. */
  const all = new Set<Shared>()
  let closed = false

  function begin(target: Target, ways: readonly Candidate[]): Shared {
    const { account, instance, keyName, deadlineMs, mark } = target
    const abort = new AbortController()
    const make = async () => {
      const key = await keysOf(account).load(keyName)
      const limits = { clock, within: deadlineMs, signal: abort.signal }
      return getIn(ways, { account, instance, key, knownHosts, mark }, limits)
    }
    const of = nameOf(account, instance)
    const shared: Shared = { of, keyName, entrance: make(), open: undefined, shares: 0, abort }
    all.add(shared)
    sharable.set(of, shared)
    shared.entrance.then(
      entrance => {
        shared.open = entrance
        onWay(target.account, target.instance, entrance.candidate, entrance.connection.hostKey)
        entrance.connection.lost.then(() => {
          forget(shared)
          const rest = [...all].find(other => other.of === of && other.open !== undefined)
          onWay(target.account, target.instance, rest?.open?.candidate)
        })
      },
      () => forget(shared),
    )
    return shared
  }

  function forget(shared: Shared): void {
    all.delete(shared)
    if (sharable.get(shared.of) === shared) sharable.delete(shared.of)
  }

  /** The current connection, unless it is full, the service no longer lists its address, or another key is named. */
  function current(target: Target, ways: readonly Candidate[]): Shared | undefined {
    const shared = sharable.get(nameOf(target.account, target.instance))
    if (shared === undefined || shared.keyName !== target.keyName) return undefined
    if (shared.open?.connection.isFull()) return undefined
    const at = shared.open?.candidate.address
    return at === undefined || ways.some(way => sameAddress(way.address, at)) ? shared : undefined
  }

  async function share(shared: Shared, deadlineMs: number): Promise<SharedConnection> {
    const found = shared.open !== undefined
    shared.shares++
    let released = false
    const release = () => {
      if (released) return
      released = true
      shared.shares--
      if (shared.shares === 0) void end(shared)
    }
    try {
      return { ...(await withinTime(clock, shared.entrance, deadlineMs)), found, release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Closes the connection and resolves once it has ended. */
  async function end(shared: Shared): Promise<void> {
    if (sharable.get(shared.of) === shared) sharable.delete(shared.of)
    shared.abort.abort(closedHere())
    const entrance = await shared.entrance.catch(() => undefined)
    entrance?.connection.close()
    await entrance?.connection.lost
    all.delete(shared)
  }

  return {
    /** Leases the instance's connection, and opens it if there is none. */
    async connect(target: Target): Promise<SharedConnection> {
      if (closed) throw closedHere()
      const ways = candidates(target.addresses, target.jupyterRuntype)
      return share(current(target, ways) ?? begin(target, ways), target.deadlineMs)
    },
    /** Gives no further leases of this connection; existing ones stay valid. */
    retire(lease: SharedConnection): void {
      for (const [of, shared] of sharable) {
        if (shared.open?.connection === lease.connection) sharable.delete(of)
      }
    },
    /** Closes the connections to one instance, or to all of an account. */
    async drop(account: string, instance?: number): Promise<void> {
      const isMeant = ({ of }: Shared) =>
        instance === undefined ? of.startsWith(nameOf(account, '')) : of === nameOf(account, instance)
      await Promise.all([...all].filter(isMeant).map(end))
    },
    async close(): Promise<void> {
      closed = true
      await Promise.all([...all].map(end))
    },
  }
}

/** Rejects with `ssh_timeout` if the work takes longer. */
export function withinTime<T>(clock: Clock, work: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.max(0, milliseconds), () => reject(timedOut(undefined)))
    work.then(resolve, reject).finally(cancel)
  })
}

function nameOf(account: string, instance: number | ''): string {
  return `${account}/${instance}`
}

/** A connection, and the address at which it was opened. */
interface Entrance {
  connection: Connection
  candidate: Candidate
}

/**
 * Connects at the first address that accepts the key. One deadline covers all: the time left is shared evenly among the
 * addresses not yet tried. If none accepts the key, throws the error that explains most.
 */
async function getIn(
  ways: readonly Candidate[],
  attempt: Omit<ConnectionAttempt, 'address' | 'tell'> & Pick<Target, 'mark'>,
  limits: DialTimeouts,
): Promise<Entrance> {
  const start = limits.clock.monotonic()
  const [{ connectTo }, { tellByMark }] = await Promise.all([
    import('./connection.ts'),
    import('./own-mark.ts'),
  ])
  const own = { instance: attempt.instance, mark: attempt.mark }
  const faults: { candidate: Candidate; error: unknown }[] = []
  for (const [index, candidate] of ways.entries()) {
    const left = limits.within - (limits.clock.monotonic() - start)
    if (left <= 0) break
    const within = left / (ways.length - index)
    try {
      const { account } = attempt
      const tell: ConnectionAttempt['tell'] = (open, holders) =>
        tellByMark(open, limits.clock, own, {
          way: candidate.way,
          isForeign: holders.some(holder => holder.account !== account),
        })
      const here = { ...attempt, address: candidate.address, tell }
      const connection = await connectTo(here, { ...limits, within })
      return { connection, candidate }
    } catch (error) {
      if (limits.signal.aborted) throw error
      faults.push({ candidate, error })
    }
  }
  throw clearestFault(faults) ?? timedOut(ways[0]?.address)
}

/** Error codes, the most telling first. */
const weights = [
  'host_key_changed',
  'host_key_known_elsewhere',
  'ssh_other_instance',
  'key_refused',
  'ssh_timeout',
  'ssh_unreachable',
]

/**
 * A guessed port may belong to another machine, so its errors do not count, except `key_refused`: if the listed
 * addresses did not answer, attaching the key is worth a try and does no harm.
 */
function clearestFault(faults: readonly { candidate: Candidate; error: unknown }[]): unknown {
  const counted = faults.filter(
    ({ candidate, error }) =>
      candidate.way !== 'guess' || (error instanceof BerthError && error.problem.code === 'key_refused'),
  )
  return counted.map(({ error }) => error).sort((one, other) => weight(one) - weight(other))[0]
}

function weight(error: unknown): number {
  const place = error instanceof BerthError ? weights.indexOf(error.problem.code) : -1
  return place // -1, for an unknown error, sorts first
}
