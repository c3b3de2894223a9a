import type { Socket } from 'node:net'
import { NodeSSH } from 'node-ssh'
import type { Client, ServerHostKeyAlgorithm } from 'ssh2'
import type { Clock } from '#platform/platform.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { LoadedKey } from '../keys/keys.ts'
import { fingerprintOf, typeOf } from '../keys/openssh-key.ts'
import { type DialTimeouts, dial } from './dial.ts'
import type { HostKeyHolder, KnownHosts } from './known-hosts.ts'
import {
  connectionFull,
  connectionLost,
  keyRefused,
  reasonOf,
  timedOut,
  unreachable,
  whyEnded,
} from './ssh-problems.ts'

/** An SSH connection on which the key was accepted. Shells, SFTP and tunnels are channels of it. */
export interface Connection {
  ssh: NodeSSH
  client: Client
  address: SshAddress
  /**
   * `SHA256:…` of the key that the host proved and its `TYPE BASE64`, whether it was the first one seen of the instance, and who
   * else has it.
   */
  hostKey: { fingerprint: string; line: string; isFirst: boolean; sharedWith: readonly HostKeyHolder[] }
  /** Resolves when the connection has ended: with the reason, unless `close` ended it. */
  lost: Promise<Problem | undefined>
  /** Whether it has ended: its channels are closed then, and `lost` resolves. */
  hasEnded(): boolean
  /** Whether its server has refused a further session on it: it gives no further leases then. */
  isFull(): boolean
  /**
   * Waits for the answer to a request for a session; `ssh_closed` if the connection is lost before, `ssh_full` if the
   * server refuses a further session, an own problem as it is, and else `refused` with the reason as a clause. A host
   * that does not answer for a minute counts as dead even if it still answers pings: the connection is closed, and
   * `ssh_timeout` is thrown.
   */
  answered<Answer>(request: Promise<Answer>, refused: (why: string) => BerthError): Promise<Answer>
  close(): void
}

export interface ConnectionAttempt {
  account: string
  instance: number
  address: SshAddress
  key: LoadedKey
  knownHosts: KnownHosts
  /** Whether the instance itself answered, where others have its host key. Throws if it's another. */
  tell(connection: Connection, holders: readonly HostKeyHolder[]): Promise<'own' | 'unknown'>
}

/**
 * Milliseconds between two checks for received bytes, and between two keepalives, which make the peer send some; and
 * how many checks without any mean a dead connection.
 */
const checkInterval = 2000
const silentChecks = 5

/**
 * Milliseconds for a host to accept the connection, and the same again to send its first byte: retrying a silent host
 * is better than waiting for it.
 */
const patience = 10_000

/** Milliseconds for a host to answer a channel request, which takes long on an overloaded one. */
const channelPatience = 60_000

/**
 * Connects and authenticates at one address. The host key is stored only once our key was accepted under it, so that
 * the key of a server at a wrong port is never taken for the instance's; and where another instance has it, once `tell`
 * says that it's the instance. No agent is forwarded. Throws `ssh_unreachable`, `ssh_timeout`, `host_key_changed`,
 * `host_key_known_elsewhere`, `key_refused` or `ssh_closed`, and as `tell` does.
 */
export async function connectTo(attempt: ConnectionAttempt, limits: DialTimeouts): Promise<Connection> {
  const { account, instance, address, key, knownHosts } = attempt
  const start = limits.clock.monotonic()
  const knownKey = await knownHosts.known(account, instance)
  const socket = await dial(address, { ...limits, within: Math.min(limits.within, patience) })

  let offered: Buffer | undefined
  let refusal: unknown
  let late = false
  const giveUp = () => {
    late = true
    socket.destroy()
  }
  const left = Math.max(0, limits.within - (limits.clock.monotonic() - start))
  const cancel = limits.clock.after(left, giveUp)
  const cancelSilence = limits.clock.after(Math.min(left, patience), () => {
    if (socket.bytesRead === 0) giveUp()
  })
  const abort = () => socket.destroy()
  limits.signal.addEventListener('abort', abort, { once: true })
  if (limits.signal.aborted) abort()

  try {
    const ssh = new NodeSSH()
    const ready = ssh.connect({
      sock: socket,
      username: 'root',
      // A single method, so that ssh2 tries nothing but this key.
      authHandler: [{ ...key.proof, username: 'root' }],
      readyTimeout: 0, // the deadline above covers it
      keepaliveInterval: checkInterval,
      keepaliveCountMax: Number.MAX_SAFE_INTEGER, // `watch` decides, by received bytes
      algorithms: knownKey === undefined ? undefined : { serverHostKey: algorithmsFor(knownKey) },
      hostVerifier: (hostKey: Buffer, verdict: (permitted: boolean) => void) => {
        const verified = offered?.equals(hostKey)
          ? Promise.resolve()
          : knownHosts.verify(account, instance, hostKey)
        verified.then(
          () => {
            offered = hostKey
            verdict(true)
          },
          error => {
            refusal = error
            verdict(false)
          },
        )
      },
    })
    const client = ssh.connection
    // node-ssh listens for errors only until the connection is ready; a later one without a listener would crash Berth.
    let fault: unknown
    client?.on('error', error => {
      fault = error
    })
    // Listens from here on, since the connection may end while the host key is being stored.
    const clientClosed = new Promise<void>(resolve => client?.once('close', () => resolve()))
    await ready
    if (client === null || offered === undefined) throw unreachable(address, 'the handshake was incomplete')
    client.setNoDelay(true)
    const hostKey: Connection['hostKey'] = {
      fingerprint: fingerprintOf(offered),
      line: `${typeOf(offered)} ${offered.toString('base64')}`,
      isFirst: knownKey === undefined,
      sharedWith: [],
    }
    const connection = watch({
      ssh,
      client,
      address,
      hostKey,
      socket,
      clock: limits.clock,
      clientClosed,
      fault: () => fault,
    })
    const tell = (holders: readonly HostKeyHolder[]) => attempt.tell(connection, holders)
    hostKey.sharedWith = await knownHosts.remember(account, instance, offered, tell)
    return connection
  } catch (error) {
    socket.destroy()
    if (limits.signal.aborted || late) throw limits.signal.aborted ? limits.signal.reason : timedOut(address)
    if (refusal !== undefined) throw refusal
    if (error instanceof BerthError) throw error
    throw isRefusedKey(error) ? keyRefused(address, key) : unreachable(address, reasonOf(error))
  } finally {
    cancel()
    cancelSilence()
    limits.signal.removeEventListener('abort', abort)
  }
}

interface Watched extends Pick<Connection, 'ssh' | 'client' | 'address' | 'hostKey'> {
  socket: Socket
  clock: Clock
  /** Resolves once the client is closed. */
  clientClosed: Promise<void>
  fault(): unknown
}

/**
 * A connection that notices a dead peer within 12 seconds. Any byte counts as a sign of life, unlike in ssh2's own
 * keepalive, whose answers can queue behind seconds of output. Checks are counted instead of milliseconds, so that
 * sleep of this computer does not count as silence of the peer.
 */
function watch({ ssh, client, address, hostKey, socket, clock, clientClosed, fault }: Watched): Connection {
  let closed = false
  let full = false
  let silence = 0
  let heard = socket.bytesRead
  let cancel = clock.after(checkInterval, check)

  function check() {
    silence = socket.bytesRead === heard ? silence + 1 : 0
    heard = socket.bytesRead
    if (silence >= silentChecks) socket.destroy()
    else cancel = clock.after(checkInterval, check)
  }

  const lost = clientClosed.then((): Problem | undefined => {
    cancel()
    const why = silence >= silentChecks ? 'it stopped answering' : whyClosed(fault())
    return closed ? undefined : connectionLost(address, why)
  })
  // A socket whose other side has ended is not destroyed until what was written is sent.
  const hasEnded = () => socket.destroyed || socket.readableEnded || !socket.writable
  return {
    ssh,
    client,
    address,
    hostKey,
    lost,
    hasEnded,
    isFull: () => full,
    answered: (request, refused) =>
      new Promise((resolve, reject) => {
        const cancelPatience = clock.after(channelPatience, () => {
          reject(timedOut(address))
          socket.destroy()
        })
        // Requests of a lost connection fail with errors that look like refusals.
        const fail = async (error: unknown) => {
          const ended = await whyEnded({ lost, hasEnded })
          const isOfSession = error instanceof Error && 'reason' in error
          full ||= !ended && isOfSession
          const own = error instanceof BerthError ? error : undefined
          reject(ended ?? own ?? (isOfSession ? connectionFull : refused)(reasonOf(error)))
        }
        request.then(resolve, fail).finally(cancelPatience)
      }),
    close() {
      closed = true
      client.end()
      // A dead peer never answers, and must not keep the socket open.
      const kill = clock.after(checkInterval, () => socket.destroy())
      void clientClosed.then(kill)
    },
  }
}

function whyClosed(fault: unknown): string {
  return fault === undefined ? 'the other side closed it' : reasonOf(fault)
}

function isRefusedKey(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('level' in error && error.level === 'client-authentication') return true
  return /too many authentication failures/i.test(error.message)
}

/** The known key's type first, so that a server with a further type of host key does not look like a changed host. */
function algorithmsFor(knownKey: Buffer): ServerHostKeyAlgorithm[] {
  const all: ServerHostKeyAlgorithm[] = [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
    'ssh-rsa',
  ]
  const type = typeOf(knownKey)
  const isKnownKind = (name: string) => (type === 'ssh-rsa' ? /rsa/.test(name) : name === type)
  return [...all.filter(isKnownKind), ...all.filter(name => !isKnownKind(name))]
}
