import * as v from 'valibot'
import { problemOf } from '#core/bridge/problems.ts'
import { type DocumentPlace, openDocument, readText } from '#core/storage/json-file.ts'
import type { Store } from '#core/storage/store.ts'
import type { Platform } from '#platform/platform.ts'
import { oneAtATime } from '#platform/tasks.ts'
import { canGetIn } from '#shared/derived.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView, SshAddress } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import { configText, hostNames, recentOptionsProbe } from '#ssh/config-text.ts'
import { sameAddress } from '#ssh/connection/addresses.ts'
import { userConfig } from '#ssh/user-config.ts'
import type { Access } from './access.ts'

export type SshConfig = Awaited<ReturnType<typeof openSshConfig>>

export interface SshConfigNeeds {
  store: Store
  platform: Pick<Platform, 'files' | 'clock' | 'home' | 'os' | 'programs'>
  access: Pick<Access, 'filesOf' | 'onWay'>
  onBroken: DocumentPlace['onBroken']
  /** Called where the file could not be written. */
  onProblem: (problem: Problem) => void
}

const name = 'ssh/config'
const Stored = v.object({
  made: v.object({ file: v.boolean(), folder: v.boolean() }),
  /** The name of the key attached to each instance, by account and instance. */
  attached: v.optional(v.record(v.string(), v.string()), {}),
})
type Stored = v.InferOutput<typeof Stored>

/** The file that `~/.ssh/config` includes by the user's choice, kept up to date with the instances. */
export async function openSshConfig({ store, platform, access, onBroken, onProblem }: SshConfigNeeds) {
  const { files, home } = platform
  let recent: Promise<boolean> | undefined
  const empty: Stored = { made: { file: false, folder: false }, attached: {} }
  const document = await openDocument({ files, platform, onBroken }, 'ssh-config', Stored, empty)
  const user = userConfig(home)
  const addresses = new Map<string, SshAddress>()
  let written = await readText({ files, onBroken }, name, name)
  /** Writes to the file, one at a time. */
  const inTurn = oneAtATime()
  /** The user switched it off, which State may not show yet: nothing is written any more. */
  let off = false
  let stop: () => void = () => undefined
  let lastMessage = ''

  const keyOf = (account: AccountId, instance: number) => `${account}/${instance}`
  const listed = (state: Pick<State, 'accounts'>) =>
    listedInstances(state, (account, instance) => addresses.get(keyOf(account, instance)))

  /** Writes the file for the present State. */
  async function write(accounts = store.get().accounts): Promise<void> {
    if (off) return
    recent ??= knowRecentOptions(platform)
    const entries = listed({ accounts })
    const text = configText(
      await Promise.all(entries.map(async entry => ({ ...entry, ...(await access.filesOf(entry.account)) }))),
      await recent,
    )
    if (text === written) return
    await files.write(name, text)
    written = text
  }

  const isIncluded = async () => !store.get().settings.sshConfig || user.includes(files.path(name))

  function writeQuietly(): void {
    inTurn(async () => {
      await write()
      if (!off && !(await isIncluded())) throw new BerthError(lineGone)
      lastMessage = ''
    }).catch((error: unknown) => {
      const problem = problemOf(error)
      if (problem.message !== lastMessage) onProblem(problem)
      lastMessage = problem.message
    })
  }

  async function putIn(): Promise<void> {
    const path = files.path(name)
    off = false
    await write()
    const made = await user.include(path)
    const before = document.get().made
    await document.record(kept => ({
      ...kept,
      made: { file: made.file || before.file, folder: made.folder || before.folder },
    }))
  }

  async function takeOut(): Promise<void> {
    await user.exclude(files.path(name), document.get().made)
    off = true
    await document.record(kept => ({ ...kept, made: empty.made }))
    await files.delete(name)
    written = undefined
  }

  /** Notes the address at which Berth connected to an instance, which the file then prefers. */
  function reached(account: AccountId, instance: number, address: SshAddress): void {
    addresses.set(keyOf(account, instance), address)
    if (store.get().settings.sshConfig) writeQuietly()
  }
  access.onWay((account, instance, way) => {
    if (way) reached(account, instance, way.address)
  })

  return {
    /** Whether the user's config includes the file as chosen; false if the user removed the line. */
    isIncluded,
    /** Switches the include line on or off. Throws `ssh_config_path` or `ssh_config_not_written`, with nothing changed. */
    turn: (on: boolean): Promise<void> => inTurn(on ? putIn : takeOut),
    reached,
    /** Starts to write the file whenever State changes, and to attach the chosen key to instances. */
    async follow(attach: KeyAttacherNeeds['attach']): Promise<void> {
      const attacher = createKeyAttacher({
        attach,
        given: () => document.get().attached,
        remember: (of, key) =>
          document.writeSoon(kept => ({ ...kept, attached: { ...kept.attached, [of]: key } })),
      })
      const goOn = (state: State) => {
        if (!state.settings.sshConfig) return
        writeQuietly()
        attacher.onState(state)
      }
      stop = store.onChange((after, before) => {
        if (changesEntries(after, before)) goOn(after)
      })
      goOn(store.get())
    },
    /**
     * The `Host` of an instance, once the file contains it. Throws `ssh_config_off`, `ssh_config_line_gone`, or
     * `bad_address` where the instance is not in the file.
     */
    async hostOf(account: AccountId, instance: number): Promise<string> {
      if (!store.get().settings.sshConfig) throw sshConfigOff()
      if (!(await isIncluded())) throw new BerthError(lineGone)
      await inTurn(() => write())
      const entries = listed(store.get())
      const at = entries.findIndex(entry => entry.account === account && entry.instance === instance)
      const host = hostNames(entries)[at]?.[0]
      if (host !== undefined) return host
      throw new BerthError({
        code: 'bad_address',
        message: 'The service hasn’t reported an SSH address for this instance.',
        advice: 'Wait until the instance is running, then try again.',
        field: 'ssh_host',
      })
    },
    /** Ends, and removes the demo's entries from the file. */
    async close(): Promise<void> {
      stop()
      const { settings, accounts } = store.get()
      const { demo, ...real } = accounts
      await inTurn(async () => {
        if (settings.sshConfig && demo) await write(real)
      }).catch(() => undefined)
      await document.flush()
    },
  }
}

/** Whether every ssh of this machine that may read the file knows the options that came with OpenSSH 8.7. */
async function knowRecentOptions({ programs, os }: Pick<Platform, 'programs' | 'os'>): Promise<boolean> {
  const own = {
    linux: '/usr/bin/ssh',
    darwin: '/usr/bin/ssh',
    win32: 'C:\\Windows\\System32\\OpenSSH\\ssh.exe',
  }
  const found = await Promise.all(['ssh', own[os]].map(name => programs.find(name)))
  const paths = new Set(found.filter(path => path !== undefined))
  try {
    for (const path of paths) await programs.launch(path, recentOptionsProbe, { untilEnd: true })
    return paths.size > 0
  } catch {
    return false
  }
}

/** The refusal of a command that needs the SSH config while it is off. */
export function sshConfigOff(): BerthError {
  return new BerthError({
    code: 'ssh_config_off',
    message: 'Editors connect through your SSH config, and Berth isn’t in it yet.',
    advice:
      'Switch it on in Settings. It adds one line to ~/.ssh/config, and removes it when you switch it off.',
  })
}

const lineGone: Problem = {
  code: 'ssh_config_line_gone',
  message: 'Berth’s Include line is missing from ~/.ssh/config, so ssh and editors can’t find the instances.',
  advice: 'Add it again in Settings, or switch the SSH config off there.',
}

interface KeyAttacherNeeds {
  /** Attaches the chosen key. */
  attach(account: AccountId, instance: number): Promise<void>
  /** The name of the key attached to each instance, by account and instance. */
  given(): Readonly<Record<string, string>>
  remember(of: string, key: string): void
}

/** Attaches the SSH config's key to each running instance once, since the system's `ssh` cannot attach it. */
function createKeyAttacher({ attach, given, remember }: KeyAttacherNeeds) {
  /** Instances tried since the start, successfully or not: a refused key is not tried again and again. */
  const tried = new Set<string>()
  /** One at a time, so that the user's own commands do not wait behind many. */
  const inTurn = oneAtATime()

  return {
    onState({ accounts, settings }: State): void {
      for (const { id: account, instances, connection } of Object.values(accounts)) {
        if (connection.status !== 'online') continue
        for (const instance of Object.values(instances)) {
          const of = `${account}/${instance.id}`
          const once = `${of} ${settings.sshKey}`
          if (!canGetIn(instance) || tried.has(once) || given()[of] === settings.sshKey) continue
          tried.add(once)
          void inTurn(() => attach(account, instance.id)).then(
            () => {
              // The next demo uses the same instance ids.
              if (account !== 'demo') remember(of, settings.sshKey)
            },
            () => undefined,
          )
        }
      }
    },
  }
}

/** An instance in the SSH config, with its best address. */
interface Listed {
  account: AccountId
  instance: number
  label?: string
  address: SshAddress
}

/**
 * All accounts' instances that have an address, by account and id. `reached` is the address at which Berth last
 * connected: it is used while the service still lists it, else the direct one, else the proxy's.
 */
export function listedInstances(
  { accounts }: Pick<State, 'accounts'>,
  reached: (account: AccountId, instance: number) => SshAddress | undefined,
): Listed[] {
  return Object.values(accounts).flatMap(account =>
    Object.values(account.instances).flatMap(instance => {
      const address = addressOf(instance, reached(account.id, instance.id))
      if (!address) return []
      const { id, label } = instance
      return [{ account: account.id, instance: id, label: label || undefined, address }]
    }),
  )
}

function addressOf({ ssh, jupyter }: InstanceView, reached: SshAddress | undefined): SshAddress | undefined {
  if (!ssh) return undefined
  const { direct, proxy } = ssh
  const guess = jupyter && proxy && { host: proxy.host, port: proxy.port + 1 }
  const addresses = [direct, proxy, guess || undefined].filter(address => address !== undefined)
  return addresses.find(address => reached && sameAddress(address, reached)) ?? direct ?? proxy
}

/** Whether a change of State may concern the SSH config: most polls only change loads and figures. */
function changesEntries(after: State, before: State): boolean {
  if (after.settings !== before.settings) return true
  const ids = Object.keys(after.accounts)
  if (ids.length !== Object.keys(before.accounts).length) return true
  return ids.some(id => {
    if (after.accounts[id]?.connection !== before.accounts[id]?.connection) return true
    const now = after.accounts[id]?.instances
    const then = before.accounts[id]?.instances
    if (now === then) return false
    if (!now || !then || Object.keys(now).length !== Object.keys(then).length) return true
    return Object.keys(now).some(key =>
      (['ssh', 'label', 'state'] as const).some(field => now[key]?.[field] !== then[key]?.[field]),
    )
  })
}
