import type { Files, Platform } from '#platform/platform.ts'
import type { ServiceClient } from '#service/client.ts'
import { instanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import type { AttachedKey } from '#shared/instance/ssh-key.ts'
import type { Problem } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import { addressText } from '#ssh/connection/addresses.ts'
import { createSsh } from '#ssh/connection/connections.ts'
import type { WayListener } from '#ssh/connection/sharing.ts'
import { openAgent } from '#ssh/keys/agent.ts'
import { openPassphrases } from '#ssh/keys/keys.ts'
import { openOwnTerminal, openSystemTerminal } from '#ssh/shell/system-terminal.ts'
import { quote } from '#ssh/ssh-command.ts'
import { isDeepEqual, type Store } from '../storage/store.ts'
import { rememberAccess } from './access-store.ts'
import { addressesOf, createEnter, entryDeadline, type InstanceTarget, notReady } from './connect-with-key.ts'
import { createShells } from './shells.ts'

export type Access = ReturnType<typeof openAccess>

/**
 * Access to the instances of all accounts over SSH: chooses key and address, and attaches the key where needed. The demo's
 * SSH has separate files.
 */
export function openAccess(
  platform: Platform,
  demoFiles: Files | undefined,
  state: () => State,
  onHostKey: (account: AccountId, instance: number, question: Problem) => void = () => undefined,
) {
  const { clock, home, programs, os } = platform
  const wayListeners = new Set<WayListener>()
  const onWay: WayListener = (...way) => {
    for (const listener of wayListeners) listener(...way)
  }
  const nameOf = (account: AccountId, instance: number) => {
    const { name, instances } = state().accounts[account] ?? {}
    const title = instanceName(instances?.[instance] ?? { id: instance })
    return name === undefined ? title : `${title} of ${name}`
  }
  const passphrases = openPassphrases(platform.keychain)
  const agent = openAgent(platform.sshAgent)
  const storesIn = (files: Files) => ({
    ssh: createSsh({ files, nameOf, clock, home, platform: os, onWay, passphrases, agent }),
    memory: rememberAccess(files, clock),
  })
  const real = storesIn(platform.files)
  const demo = demoFiles && storesIn(demoFiles)
  const sideOf = (account: AccountId | undefined) => (account === 'demo' && demo ? demo : real)
  const sshOf = (account: AccountId | undefined) => sideOf(account).ssh
  const memoryOf = (account: AccountId) => sideOf(account).memory
  const keyName = () => state().settings.sshKey

  async function attachKey(
    account: AccountId,
    instance: number,
    client: ServiceClient,
    key: string = keyName(),
  ): Promise<void> {
    const { name, fingerprint, publicKey } = await sshOf(account).keysOf(account).locate(key)
    await client.instances.attachSshKey(instance, publicKey)
    const at = Math.floor(clock.now() / 1000)
    await memoryOf(account).noteAttached(account, instance, { name, fingerprint, at })
  }

  /** The address that answers, with the key attached where possible, for programs that connect on their own. */
  async function probe({ account, instance, client }: InstanceTarget): Promise<SshAddress> {
    const { address } = await sshOf(account).probe({
      addresses: addressesOf(instance),
      jupyterRuntype: instance.jupyter,
      deadlineMs: entryDeadline,
    })
    await attachKey(account, instance.id, client).catch(() => undefined)
    return address
  }

  const command = ({ account, instance }: InstanceTarget, address: SshAddress) =>
    sshOf(account).command({ account, instance: instance.id, keyName: keyName() }, address)
  const enter = createEnter({ clock, keyName, attachKey, onHostKey })
  const connect = (target: InstanceTarget) => enter(target, sshOf(target.account).connect)
  const shells = createShells({
    clock,
    connect,
    open: (target, request) =>
      enter(target, entrance => sshOf(target.account).openShell({ ...entrance, ...request })),
    memoryOf,
    isTmuxUsual: () => state().settings.terminal.tmux,
  })

  return {
    ...shells,
    /** Sets whether an instance's shells live in tmux; undefined follows the settings. */
    chooseTmux: (account: AccountId, instance: number, choice: boolean | undefined) =>
      memoryOf(account).chooseTmux(account, instance, choice),
    /** A lease of the instance's connection, for anything but shells. */
    connect,
    onWay: (listener: WayListener) => void wayListeners.add(listener),
    /** The files of the key and of the known hosts, for the SSH config. */
    async filesOf(account: AccountId): Promise<{ keyPath: string; knownHostsPath: string }> {
      const { keysOf, knownHosts } = sshOf(account)
      const { path } = await keysOf(account).locate(keyName())
      return { keyPath: path, knownHostsPath: knownHosts.path }
    },
    /** The address that answers now. Attaches the key first, where the service accepts it. */
    probe,
    async openSystemTerminal(target: InstanceTarget): Promise<void> {
      const address = await probe(target)
      const { program, command: own } = state().settings.terminal
      const args = await command(target, address)
      if (own.length > 0) await openOwnTerminal(programs, own, args, address)
      else await openSystemTerminal({ programs, platform: os }, program, args)
    },
    /** The SSH command as one line for a POSIX shell. */
    async commandLine(target: InstanceTarget): Promise<string> {
      const { direct, proxy } = addressesOf(target.instance)
      const address = direct ?? proxy
      if (!address) throw notReady(target.instance)
      return quote(await command(target, address))
    },
    /** The path of the private key for it, as one word of a POSIX shell. Throws `key_missing`. */
    async keyFile({ account }: InstanceTarget): Promise<string> {
      const { path } = await sshOf(account).keysOf(account).locate(keyName())
      return quote([path])
    },
    /** The system's ssh and its arguments, for an address. */
    sshArguments: command,
    /** Attaches a key through the service, by default the one in the settings, and remembers that. */
    attachKey,
    acceptHostKey: (account: AccountId, instance: number, fingerprint: string) =>
      sshOf(account).knownHosts.accept(account, instance, fingerprint),
    /** The keys attached by Berth, by instance. */
    attachedKeys: (account: AccountId): Promise<Record<number, readonly AttachedKey[]>> =>
      memoryOf(account).attached(account),
    /** The SSH keys for an account's instances. */
    keys: (account: AccountId | undefined) => sshOf(account).keysOf(account),
    /** Closes the connections to one instance, or to all of an account, and forgets nothing. */
    disconnect: (account: AccountId, instance?: number) => sshOf(account).disconnect(account, instance),
    /** Closes and forgets everything of an instance that is permanently gone. */
    async drop(account: AccountId, instance: number): Promise<void> {
      await Promise.all([sshOf(account).drop(account, instance), memoryOf(account).forget(account, instance)])
    },
    /** Deletes the host keys and the own key of an account that is removed. */
    forgetAccount: (account: AccountId) => sshOf(account).forgetAccount(account),
    async close(): Promise<void> {
      await shells.close()
      await Promise.all([real.ssh.close(), demo?.ssh.close()])
    },
  }
}

/**
 * Keeps the address of each connected instance in State, whether it is the direct one, and which instances have a host
 * key in common.
 */
export function showWays(store: Store): WayListener {
  return (account, instance, way, hostKey) => {
    const shown = way && { direct: way.way === 'direct', address: addressText(way.address) }
    const { ways = {}, sharedHostKeys = {} } = store.get().accounts[account] ?? {}
    const sharing =
      hostKey && hostKey.sharedWith.length > 0 ? [{ account, instance }, ...hostKey.sharedWith] : []
    if (isDeepEqual(ways[instance], shown) && (sharing.length === 0 || sharedHostKeys[instance])) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      if (shown) target.ways[instance] = shown
      else delete target.ways[instance]
      for (const holder of sharing) {
        const of = draft.accounts[holder.account ?? '']
        if (!of || holder.instance === undefined) continue
        of.sharedHostKeys ??= {}
        of.sharedHostKeys[holder.instance] = true
      }
    })
  }
}
