import type { Clock, Files } from '#platform/platform.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import type { Agent } from '../keys/agent.ts'
import { type Keys, openKeys, type Passphrases } from '../keys/keys.ts'
import { openShellOn, type Shell, type ShellSize } from '../shell/shell.ts'
import { sshCommand } from '../ssh-command.ts'
import { type Candidate, candidates } from './addresses.ts'
import { greetsAsSsh } from './dial.ts'
import { openKnownHosts } from './known-hosts.ts'
import {
  type SharedConnection,
  shareConnections,
  type Target,
  type WayListener,
  withinTime,
} from './sharing.ts'
import { closedHere } from './ssh-problems.ts'

export type Ssh = ReturnType<typeof createSsh>

/** The size of a shell, and a command to run instead of the user's shell. */
export interface ShellRequest extends ShellSize {
  command?: string
}

export interface SshNeeds {
  files: Files
  clock: Clock
  /** The user's home folder, which contains `.ssh`. */
  home: string
  platform: 'linux' | 'darwin' | 'win32'
  /** The name of an instance that the user sees, for questions about host keys. */
  nameOf?: (account: string, instance: number) => string
  onWay?: WayListener
  passphrases?: Passphrases
  agent?: Agent
}

/** Milliseconds for a shell to open on an existing connection, before a new connection is opened. */
const patience = 3000

/** SSH for all accounts and instances: keys, known hosts and connections. */
export function createSsh(needs: SshNeeds) {
  const { files, clock, onWay } = needs
  const opened = new Map<string | undefined, Keys>()
  const knownHosts = openKnownHosts(files, needs.nameOf)
  const sharing = shareConnections(keysOf, knownHosts, clock, onWay)
  const closing = new AbortController()

  function keysOf(account: string | undefined): Keys {
    const keys = opened.get(account) ?? openKeys({ ...needs, account })
    opened.set(account, keys)
    return keys
  }

  async function shellOn(lease: SharedConnection, request: ShellRequest, ms: number): Promise<Shell> {
    const opening = openShellOn(lease.connection, lease.candidate.way === 'direct', request, request.command)
    try {
      const shell = await withinTime(clock, opening, ms)
      // A command of Berth's exits when its terminal closes, so that is awaited; a user's shell may never exit.
      const ended = request.command === undefined ? shell.ended : shell.left
      ended.then(lease.release)
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

  return {
    /** The keys of an account; for undefined, those that all accounts share. */
    keysOf,
    knownHosts,
    /** A lease of the instance's connection, for anything but shells. Throws as `openShell` does. */
    connect: sharing.connect,
    /**
     * A shell of the given size; several to one instance share one connection. Throws `bad_address`, `key_missing`,
     * `key_locked`, `key_unusable`, `key_refused`, `host_key_changed`, `host_key_known_elsewhere`,
     * `known_hosts_damaged`, `ssh_unreachable`, `ssh_timeout`, `ssh_closed` or `shell_refused`.
     */
    async openShell(options: Target & ShellRequest): Promise<Shell> {
      const start = clock.monotonic()
      const left = () => options.deadlineMs - (clock.monotonic() - start)
      const lease = await sharing.connect(options)
      if (!lease.found) return shellOn(lease, options, left())
      try {
        return await shellOn(lease, options, Math.min(patience, left()))
      } catch (error) {
        // The server's channel limit is reached, or the connection is dead and Berth has not noticed yet.
        if (left() <= 0 || closing.signal.aborted) throw error
        sharing.retire(lease)
        return shellOn(await sharing.connect({ ...options, deadlineMs: left() }), options, left())
      }
    },
    /** The first address at which an SSH server greets. Throws `bad_address`, or the error of the last address. */
    async probe({
      addresses,
      jupyterRuntype,
      deadlineMs,
    }: Pick<Target, 'addresses' | 'jupyterRuntype' | 'deadlineMs'>): Promise<Candidate> {
      const start = clock.monotonic()
      const ways = candidates(addresses, jupyterRuntype)
      let last: unknown = closedHere()
      for (const [index, way] of ways.entries()) {
        const left = Math.max(0, deadlineMs - (clock.monotonic() - start))
        try {
          await greetsAsSsh(way.address, {
            clock,
            within: left / (ways.length - index),
            signal: closing.signal,
          })
          return way
        } catch (error) {
          last = error
        }
      }
      throw last
    },
    /** The command line of the system's ssh for an address. Throws `key_missing`. */
    async command(
      { account, instance, keyName }: Pick<Target, 'account' | 'instance' | 'keyName'>,
      address: SshAddress,
    ): Promise<string[]> {
      const { path: keyPath } = await keysOf(account).locate(keyName)
      return sshCommand({ account, instance, address, keyPath, knownHostsPath: knownHosts.path })
    },
    /** Closes the connections to one instance, or to all of the account's instances. */
    disconnect: sharing.drop,
    /** For an instance that is gone: closes its connections and forgets its host key. */
    async drop(account: string, instance: number): Promise<void> {
      await sharing.drop(account, instance)
      await knownHosts.forget(account, instance)
    },
    /** For an account that is removed: deletes its host keys and the SSH key that Berth made for it. */
    async forgetAccount(account: string): Promise<void> {
      await keysOf(account).deleteOwn()
      opened.delete(account)
      await knownHosts.forgetAccount(account)
    },
    /** Closes all connections, and aborts attempts to connect. */
    async close(): Promise<void> {
      closing.abort(closedHere())
      await sharing.close()
    },
  }
}
