import type { AccountId } from '../../contract/ids.ts'
import type { InstanceView, SshAddress } from '../../contract/instance.ts'
import { BerthError } from '../../contract/problem.ts'
import { canGetIn } from '../../contract/reading.ts'
import type { State } from '../../contract/state.ts'
import type { Files } from '../../ports/files.ts'
import type { Machine } from '../../ports/machine.ts'
import type { ServiceClient } from '../../service/client.ts'
import { createSsh, type Ssh } from '../../ssh/connections.ts'
import type { Shell } from '../../ssh/shell.ts'
import { quote, sshCommand } from '../../ssh/ssh-command.ts'
import { openSystemTerminal } from '../../ssh/system-terminal.ts'
import { instanceName } from '../alerts/wording.ts'

/** An instance to get into, and the client of its account. */
export interface Door {
  account: AccountId
  instance: InstanceView
  client: ServiceClient
}

/** Getting into the instances of all accounts: which key, attached when it has to be, and which way. */
export interface Access {
  openShell(door: Door, size: { columns: number; rows: number }): Promise<Shell>
  openSystemTerminal(door: Door): Promise<void>
  /** One line for a POSIX shell. */
  commandLine(door: Door): Promise<string>
  attachKey(account: AccountId, instance: number, client: ServiceClient): Promise<void>
  acceptHostKey(account: AccountId, instance: number, fingerprint: string): Promise<void>
  keys(account: AccountId | undefined): ReturnType<Ssh['keys']['list']>
  /** The instance is gone for good. */
  drop(account: AccountId, instance: number): Promise<void>
  close(): Promise<void>
}

/** Milliseconds for getting in, all ways and the attaching of the key included. */
const deadline = 30_000
/** Milliseconds after which a key that was just attached is tried again: the service takes a moment to bring it over. */
const afterAttaching = [500, 2000, 4000]

/** What the demo's instances need is kept in the demo's own files, and never meets what is real. */
export function openAccess(machine: Machine, demoFiles: Files | undefined, state: () => State): Access {
  const { clock, home, programs, platform } = machine
  const real = createSsh({ files: machine.files, programs, clock, home, platform })
  const demo = demoFiles && createSsh({ files: demoFiles, programs, clock, home, platform })
  const sshOf = (account: AccountId | undefined) => (account === 'demo' && demo ? demo : real)
  const keyName = () => state().settings.sshKey

  async function attachKey(account: AccountId, instance: number, client: ServiceClient): Promise<void> {
    const { publicKey } = await sshOf(account).keys.load(keyName())
    await client.instances.attachSshKey(instance, publicKey)
  }

  /** The way that answers, for programs that are given one address. */
  async function answering({ account, instance }: Door): Promise<SshAddress> {
    const { address } = await sshOf(account).probe({
      addresses: addressesOf(instance),
      jupyterRuntype: instance.jupyter,
      deadlineMs: deadline,
    })
    return address
  }

  async function command(door: Door, address: SshAddress): Promise<string[]> {
    const ssh = sshOf(door.account)
    const { path } = await ssh.keys.load(keyName())
    return sshCommand({
      account: door.account,
      instance: door.instance.id,
      address,
      keyPath: path,
      knownHostsPath: ssh.knownHosts.path,
    })
  }

  return {
    async openShell(door, size) {
      const { account, instance, client } = door
      const target = {
        account,
        instance: instance.id,
        addresses: addressesOf(instance),
        jupyterRuntype: instance.jupyter,
        keyName: keyName(),
        deadlineMs: deadline,
        ...size,
      }
      const ssh = sshOf(account)
      try {
        return await ssh.openShell(target)
      } catch (error) {
        if (!isKeyRefused(error)) throw error
      }
      await attachKey(account, instance.id, client)
      for (const pause of afterAttaching) {
        try {
          return await ssh.openShell(target)
        } catch (error) {
          if (!isKeyRefused(error)) throw error
        }
        await new Promise<void>(resolve => {
          clock.after(pause, resolve)
        })
      }
      return ssh.openShell(target)
    },
    async openSystemTerminal(door) {
      const address = await answering(door)
      await attachKey(door.account, door.instance.id, door.client).catch(() => undefined)
      const { program } = state().settings.terminal
      await openSystemTerminal({ programs, platform }, program, await command(door, address))
    },
    async commandLine(door) {
      const { direct, proxy } = addressesOf(door.instance)
      const address = direct ?? proxy
      if (!address) throw notReady(door.instance)
      return quote(await command(door, address))
    },
    attachKey,
    acceptHostKey: (account, instance, fingerprint) =>
      sshOf(account).knownHosts.accept(account, instance, fingerprint),
    keys: account => sshOf(account).keys.list(),
    drop: (account, instance) => sshOf(account).drop(account, instance),
    async close() {
      await Promise.all([real.close(), demo?.close()])
    },
  }
}

function addressesOf(instance: InstanceView): { direct?: SshAddress; proxy?: SshAddress } {
  const { ssh } = instance
  if (ssh?.problem) throw new BerthError({ code: 'bad_address', message: ssh.problem, field: 'ssh_host' })
  if (!canGetIn(instance) || !ssh) throw notReady(instance)
  return { ...(ssh.direct ? { direct: ssh.direct } : {}), ...(ssh.proxy ? { proxy: ssh.proxy } : {}) }
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
