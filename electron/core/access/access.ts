import { instanceName } from '../../contract/format/name.ts'
import type { AccountId } from '../../contract/ids.ts'
import type { InstanceView, SshAddress } from '../../contract/instance/instance.ts'
import type { AttachedKey } from '../../contract/instance/ssh-key.ts'
import type { KeptShell } from '../../contract/instance/terminal.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { canGetIn } from '../../contract/reading.ts'
import type { State } from '../../contract/state.ts'
import type { Files } from '../../ports/files.ts'
import type { Machine } from '../../ports/machine.ts'
import type { ServiceClient } from '../../service/client.ts'
import type { Candidate } from '../../ssh/connection/addresses.ts'
import { createSsh } from '../../ssh/connection/connections.ts'
import type { Lease, Target } from '../../ssh/connection/sharing.ts'
import { openAgent } from '../../ssh/keys/agent.ts'
import type { Keys } from '../../ssh/keys/keys.ts'
import { openPassphrases } from '../../ssh/keys/passphrases.ts'
import { openOwnTerminal } from '../../ssh/shell/own-terminal.ts'
import { openSystemTerminal } from '../../ssh/shell/system-terminal.ts'
import { historyOf, keptShells } from '../../ssh/shell/tmux.ts'
import { quote, sshCommand } from '../../ssh/ssh-command.ts'
import { type OpenedShell, type OurShells, openKept, type ShellWanted } from './kept-shells.ts'
import { rememberAccess } from './remembered.ts'

/** An instance to get into, and the client of its account. */
export interface InstanceTarget {
  account: AccountId
  instance: InstanceView
  client: ServiceClient
}

/** Getting into the instances of all accounts: which key, attached when it has to be, and which way. */
export interface Access {
  /** A shell, in the instance's tmux where that is chosen and there is one. */
  openShell(target: InstanceTarget, wanted: ShellWanted): Promise<OpenedShell>
  /** The shells in the instance's tmux, undefined where it has none, and whether new ones go there. */
  keptShells(target: InstanceTarget): Promise<{ kept: boolean; shells?: readonly KeptShell[] }>
  /** What scrolled out of the sight of a shell in tmux, with its escapes. */
  shellHistory(target: InstanceTarget, session: string): Promise<string>
  /** Whether that instance's shells live in tmux, whatever the settings say; undefined as they say. */
  chooseTmux(account: AccountId, instance: number, choice: boolean | undefined): Promise<void>
  /** A share in the instance's connection, for what is no shell. */
  connect(target: InstanceTarget): Promise<Lease>
  openSystemTerminal(target: InstanceTarget): Promise<void>
  /** One line for a POSIX shell. */
  commandLine(target: InstanceTarget): Promise<string>
  /** The system's ssh and its arguments for an address. */
  sshArguments(target: InstanceTarget, address: SshAddress): Promise<readonly string[]>
  /** Attaches a key by the service's call, that of the settings where none is named, and remembers it. */
  attachKey(account: AccountId, instance: number, client: ServiceClient, key?: string): Promise<void>
  /** What was attached so, by instance. */
  attachedKeys(account: AccountId): Promise<Record<number, readonly AttachedKey[]>>
  /** What the SSH config says of an instance beside its address: the files of its key and its host key. */
  filesOf(account: AccountId): Promise<{ keyPath: string; knownHostsPath: string }>
  /** The way that answers now; the key is attached on the way, where the service takes it. */
  probe(target: InstanceTarget): Promise<SshAddress>
  acceptHostKey(account: AccountId, instance: number, fingerprint: string): Promise<void>
  /** The keys with which that account's instances are entered. */
  keys(account: AccountId | undefined): Keys
  /** Ends what is open to one instance, or to all of the account's, and forgets nothing of it. */
  disconnect(account: AccountId, instance?: number): Promise<void>
  /** The instance is gone for good. */
  drop(account: AccountId, instance: number): Promise<void>
  /** The account leaves Berth: its host keys and its own key are deleted. */
  forgetAccount(account: AccountId): Promise<void>
  close(): Promise<void>
}

/** Milliseconds for getting in, all ways and the attaching of the key included. */
const deadline = 30_000
/** Milliseconds after which a key that was just attached is tried again: the service takes a moment to bring it over. */
const afterAttaching = [500, 2000, 4000]

/** What the demo's instances need is kept in the demo's own files, and never meets what is real. */
export function openAccess(
  machine: Machine,
  demoFiles: Files | undefined,
  state: () => State,
  onWay: (account: AccountId, instance: number, way: Candidate | undefined) => void = () => undefined,
  onHostKey: (account: AccountId, instance: number, question: Problem) => void = () => undefined,
): Access {
  const { clock, home, programs, platform } = machine
  const nameOf = (account: AccountId, instance: number) => {
    const { name, instances } = state().accounts[account] ?? {}
    const its = instanceName(instances?.[instance] ?? { id: instance })
    return name === undefined ? its : `${its} of ${name}`
  }
  const shared = {
    nameOf,
    programs,
    clock,
    home,
    platform,
    onWay,
    passphrases: openPassphrases(machine.keychain),
    agent: openAgent(machine.sshAgent),
  }
  const real = createSsh({ ...shared, files: machine.files })
  const demo = demoFiles && createSsh({ ...shared, files: demoFiles })
  const sshOf = (account: AccountId | undefined) => (account === 'demo' && demo ? demo : real)
  const realMemory = rememberAccess(machine.files, clock)
  const demoMemory = demoFiles && rememberAccess(demoFiles, clock)
  const memoryOf = (account: AccountId) => (account === 'demo' && demoMemory ? demoMemory : realMemory)
  const keyName = () => state().settings.sshKey

  async function attachKey(
    account: AccountId,
    instance: number,
    client: ServiceClient,
    key = keyName(),
  ): Promise<void> {
    const { name, fingerprint, publicKey } = await sshOf(account).keysOf(account).locate(key)
    await client.instances.attachSshKey(instance, publicKey)
    const at = Math.floor(clock.now() / 1000)
    await memoryOf(account).noteAttached(account, instance, { name, fingerprint, at })
  }

  /** The way that answers, with the key attached where that can be: for programs that get in on their own. */
  async function probe({ account, instance, client }: InstanceTarget): Promise<SshAddress> {
    const { address } = await sshOf(account).probe({
      addresses: addressesOf(instance),
      jupyterRuntype: instance.jupyter,
      deadlineMs: deadline,
    })
    await attachKey(account, instance.id, client).catch(() => undefined)
    return address
  }

  async function command(target: InstanceTarget, address: SshAddress): Promise<string[]> {
    const ssh = sshOf(target.account)
    const { path } = await ssh.keysOf(target.account).locate(keyName())
    return sshCommand({
      account: target.account,
      instance: target.instance.id,
      address,
      keyPath: path,
      knownHostsPath: ssh.knownHosts.path,
    })
  }

  /** Host keys that wait for the user's word, by instance: what runs in the background asks again and again. */
  const asked = new Set<string>()
  function noteHostKey(account: AccountId, instance: number, error: unknown): void {
    if (!(error instanceof BerthError)) return
    const offered = error.problem.facts?.['offered']
    const question = `${account}/${instance} ${offered}`
    if (offered === undefined || asked.has(question)) return
    asked.add(question)
    onHostKey(account, instance, error.problem)
  }

  /** Gets in for something, with the key attached when it has to be. */
  async function enter<Got>(
    { account, instance, client }: InstanceTarget,
    use: (target: Target) => Promise<Got>,
  ): Promise<Got> {
    const target = {
      account,
      instance: instance.id,
      addresses: addressesOf(instance),
      jupyterRuntype: instance.jupyter,
      keyName: keyName(),
      deadlineMs: deadline,
    }
    try {
      return await use(target)
    } catch (error) {
      noteHostKey(account, instance.id, error)
      if (!isKeyRefused(error)) throw error
    }
    await attachKey(account, instance.id, client)
    for (const pause of afterAttaching) {
      try {
        return await use(target)
      } catch (error) {
        if (!isKeyRefused(error)) throw error
      }
      await new Promise<void>(resolve => {
        clock.after(pause, resolve)
      })
    }
    return use(target)
  }

  const connect = (target: InstanceTarget) => enter(target, sshOf(target.account).connect)
  const isKept = async (account: AccountId, instance: number) =>
    (await memoryOf(account).tmux(account, instance)) ?? state().settings.terminal.tmux
  /** The shells of tmux's that are open here, by account and instance. */
  const kept = new Map<string, { taken: Set<string>; ours: OurShells }>()

  function keptOf(account: AccountId, instance: number) {
    const memory = memoryOf(account)
    const name = `${account}/${instance}`
    const known = kept.get(name) ?? {
      taken: new Set<string>(),
      ours: {
        names: () => memory.shells(account, instance),
        note: shell => memory.noteShell(account, instance, shell),
        forget: shell => memory.forgetShell(account, instance, shell),
      },
    }
    kept.set(name, known)
    return known
  }

  async function openShell(target: InstanceTarget, wanted: ShellWanted): Promise<OpenedShell> {
    const { account, instance } = target
    const { columns, rows } = wanted
    const open = (command: string | undefined) =>
      enter(target, target => sshOf(account).openShell({ ...target, columns, rows, command }))
    if (!(await isKept(account, instance.id))) return { shell: await open(undefined), others: [] }
    const lease = await connect(target)
    try {
      return await openKept({ clock, lease, open, wanted, ...keptOf(account, instance.id) })
    } finally {
      lease.release()
    }
  }

  return {
    openShell,
    async keptShells(target) {
      const kept = await isKept(target.account, target.instance.id)
      const lease = await connect(target)
      try {
        const shells = await keptShells(lease.connection, clock)
        return { kept, shells }
      } finally {
        lease.release()
      }
    },
    async shellHistory(target, session) {
      const lease = await connect(target)
      try {
        return await historyOf(lease.connection, session, clock)
      } finally {
        lease.release()
      }
    },
    chooseTmux: (account, instance, choice) => memoryOf(account).chooseTmux(account, instance, choice),
    connect,
    async filesOf(account) {
      const { keysOf, knownHosts } = sshOf(account)
      const { path } = await keysOf(account).locate(keyName())
      return { keyPath: path, knownHostsPath: knownHosts.path }
    },
    probe,
    async openSystemTerminal(target) {
      const address = await probe(target)
      const { program, command: own } = state().settings.terminal
      const args = await command(target, address)
      if (own.length > 0) await openOwnTerminal(programs, own, args, address)
      else await openSystemTerminal({ programs, platform }, program, args)
    },
    async commandLine(target) {
      const { direct, proxy } = addressesOf(target.instance)
      const address = direct ?? proxy
      if (!address) throw notReady(target.instance)
      return quote(await command(target, address))
    },
    sshArguments: command,
    attachKey,
    acceptHostKey: (account, instance, fingerprint) =>
      sshOf(account).knownHosts.accept(account, instance, fingerprint),
    attachedKeys: account => memoryOf(account).attached(account),
    keys: account => sshOf(account).keysOf(account),
    disconnect: (account, instance) => sshOf(account).disconnect(account, instance),
    async drop(account, instance) {
      await Promise.all([sshOf(account).drop(account, instance), memoryOf(account).forget(account, instance)])
    },
    forgetAccount: account => sshOf(account).forgetAccount(account),
    async close() {
      for (const { taken, ours } of kept.values()) for (const name of taken) await ours.forget(name)
      await Promise.all([real.close(), demo?.close()])
    },
  }
}

function addressesOf(instance: InstanceView): { direct?: SshAddress; proxy?: SshAddress } {
  const { ssh } = instance
  if (ssh?.problem) throw new BerthError({ code: 'bad_address', message: ssh.problem, field: 'ssh_host' })
  if (!canGetIn(instance) || !ssh) throw notReady(instance)
  return { direct: ssh.direct, proxy: ssh.proxy }
}

function notReady(instance: InstanceView): BerthError {
  return new BerthError({
    code: 'not_running',
    message: `${instanceName(instance)} is not running, so there is no shell to open.`,
    advice: 'Start it, or wait until it is running.',
  })
}

function isKeyRefused(error: unknown): boolean {
  return error instanceof BerthError && error.problem.code === 'key_refused'
}
