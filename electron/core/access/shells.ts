import type { Clock } from '#platform/platform.ts'
import type { AccountId } from '#shared/ids.ts'
import type { TmuxShell } from '#shared/instance/terminal.ts'
import type { ShellRequest } from '#ssh/connection/connections.ts'
import { type SharedConnection, withinTime } from '#ssh/connection/sharing.ts'
import { isShellReplaced } from '#ssh/connection/ssh-problems.ts'
import type { Shell, ShellSize } from '#ssh/shell/shell.ts'
import { freeName, historyOf, tmuxCommand, tmuxShells } from '#ssh/shell/tmux.ts'
import type { RememberedAccess } from './access-store.ts'
import type { InstanceTarget } from './connect-with-key.ts'

/** Dependencies for opening shells. */
interface ShellParts {
  clock: Clock
  connect(target: InstanceTarget): Promise<SharedConnection>
  open(target: InstanceTarget, request: ShellRequest): Promise<Shell>
  memoryOf(account: AccountId): RememberedAccess
  /** Whether shells live in tmux, unless something else is chosen for the instance. */
  isTmuxUsual(): boolean
}

/** The shells on all instances, plain or in tmux. */
export function createShells({ clock, connect, open, memoryOf, isTmuxUsual }: ShellParts) {
  /** The tmux shells that are open here, by account and instance. */
  const inTmux = new Map<string, { taken: Map<string, () => Promise<void>>; ours: OurShells }>()

  function shellsOf(account: AccountId, instance: number) {
    const memory = memoryOf(account)
    const name = `${account}/${instance}`
    const known = inTmux.get(name) ?? {
      taken: new Map<string, () => Promise<void>>(),
      ours: {
        names: () => memory.shells(account, instance),
        note: shell => memory.noteShell(account, instance, shell),
        forget: shell => memory.forgetShell(account, instance, shell),
      },
    }
    inTmux.set(name, known)
    return known
  }

  const usesTmux = async ({ account, instance }: InstanceTarget) =>
    (await memoryOf(account).tmux(account, instance.id)) ?? isTmuxUsual()

  async function withLease<Answer>(
    target: InstanceTarget,
    use: (lease: SharedConnection) => Promise<Answer>,
  ): Promise<Answer> {
    const lease = await connect(target)
    try {
      return await use(lease)
    } finally {
      lease.release()
    }
  }

  return {
    /** Opens a shell, in the instance's tmux where that is chosen and installed. */
    async openShell(target: InstanceTarget, wanted: ShellWanted): Promise<OpenedShell> {
      const { columns, rows } = wanted
      const opened = (command: string | undefined) => open(target, { columns, rows, command })
      if (!(await usesTmux(target))) return { shell: await opened(undefined), others: [] }
      const ofInstance = shellsOf(target.account, target.instance.id)
      return withLease(target, lease => openTmuxShell({ clock, lease, open: opened, wanted, ...ofInstance }))
    },
    /** The shells in the instance's tmux (undefined where it is not installed), and whether new ones go there. */
    async tmuxShells(
      target: InstanceTarget,
    ): Promise<{ forNewShells: boolean; shells?: readonly TmuxShell[] }> {
      const inTmuxNow = await usesTmux(target)
      return {
        forNewShells: inTmuxNow,
        shells: await withLease(target, ({ connection }) => tmuxShells(connection, clock)),
      }
    },
    /** The scrollback of a shell in tmux, with its escape sequences. */
    shellHistory: (target: InstanceTarget, session: string): Promise<string> =>
      withLease(target, ({ connection }) => historyOf(connection, session, clock)),
    /** Closes the tmux shells in order. */
    async close(): Promise<void> {
      const leaving = [...inTmux.values()].flatMap(({ taken }) => [...taken.values()].map(leave => leave()))
      // An instance that does not answer must not delay the end of Berth.
      await withinTime(clock, Promise.all(leaving), 1000).catch(() => undefined)
    },
  }
}

/** The shell to open. */
export interface ShellWanted extends ShellSize {
  /** The name of a tmux session to attach to. */
  session?: string
  /** Opens a new shell even where there is a detached one. */
  fresh?: boolean
}

/** An open shell; `session` is its name where it lives in tmux. */
interface OpenedShell {
  shell: Shell
  session?: string
  /** The scrollback of a shell that was found again. */
  history?: string
  /** The names of further detached shells. */
  others: readonly string[]
}

interface Opening {
  clock: Clock
  lease: SharedConnection
  open(command: string | undefined): Promise<Shell>
  wanted: ShellWanted
  /** By the names that this Berth is connected to on the instance, or is about to be: leaves that shell. */
  taken: Map<string, () => Promise<void>>
  ours: OurShells
}

/**
 * The tmux sessions on an instance to which this Berth is attached, or was when the connection was lost or Berth was
 * killed: a client that still seems to be attached to one of these is that lost connection.
 */
interface OurShells {
  names(): Promise<readonly string[]>
  note(name: string): Promise<void>
  /** Called once the instance confirmed that this Berth left the session. */
  forget(name: string): Promise<void>
}

/**
 * Opens a shell in the instance's tmux: by name, a detached one or a new one. Without tmux, or where a start file takes
 * over every command, a plain shell: there the user can mend that file.
 */
export async function openTmuxShell({
  clock,
  lease,
  open,
  wanted,
  taken,
  ours,
}: Opening): Promise<OpenedShell> {
  const shells = await tmuxShells(lease.connection, clock).catch(error => {
    if (isShellReplaced(error)) return undefined
    throw error
  })
  if (shells === undefined) return { shell: await open(undefined), others: [] }
  const waiting = wanted.fresh ? [] : withNobody(shells, taken, await ours.names())
  const name =
    wanted.session ?? waiting[0] ?? freeName(new Set([...shells.map(one => one.name), ...taken.keys()]))
  const found = shells.some(one => one.name === name)
  taken.set(name, async () => undefined)
  try {
    // After a reconnect the page still shows the earlier output.
    const before = found && wanted.session === undefined ? await historyOf(lease.connection, name, clock) : ''
    const shell = await open(await tmuxCommand(name))
    await ours.note(name)
    const left = shell.left
      .then(isSure => (isSure && !taken.has(name) ? ours.forget(name) : undefined))
      // If that cannot be written, the session counts as ours until next time.
      .catch(() => undefined)
    void shell.ended.then(() => taken.delete(name))
    taken.set(name, () => {
      shell.close()
      return left
    })
    return {
      shell,
      session: name,
      history: before.trim() === '' ? undefined : before,
      others: waiting.filter(other => other !== name),
    }
  } catch (error) {
    taken.delete(name)
    throw error
  }
}

function withNobody(
  shells: readonly TmuxShell[],
  taken: Opening['taken'],
  ours: readonly string[],
): string[] {
  return shells
    .filter(({ name, attached }) => (!attached || ours.includes(name)) && !taken.has(name))
    .map(({ name }) => name)
}
