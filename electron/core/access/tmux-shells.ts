import type { TmuxShell } from '../../contract/instance/terminal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Lease } from '../../ssh/connection/sharing.ts'
import type { Shell, ShellSize } from '../../ssh/shell/shell.ts'
import { freeName, historyOf, tmuxCommand, tmuxShells } from '../../ssh/shell/tmux.ts'

/** Which shell is wanted. */
export interface ShellWanted extends ShellSize {
  /** Goes on with that one of tmux's. */
  session?: string
  /** A new one, even where one goes on without anybody. */
  fresh?: boolean
}

/** A shell that was opened; `session` where it lives in tmux. */
export interface OpenedShell {
  shell: Shell
  session?: string
  /** What it had said before, where it was found again. */
  history?: string
  /** Further shells that go on without anybody. */
  others: readonly string[]
}

interface Opening {
  clock: Clock
  lease: Lease
  open(command: string | undefined): Promise<Shell>
  wanted: ShellWanted
  /** By the names that this Berth is connected to on the instance, or is about to be: leaves that shell. */
  taken: Map<string, () => Promise<void>>
  ours: OurShells
}

/**
 * The names in an instance's tmux to which this Berth is connected, or was when the connection was lost or it was
 * killed: who still seems to be in one of those is that lost connection.
 */
export interface OurShells {
  names(): Promise<readonly string[]>
  note(name: string): Promise<void>
  /** The instance said that it was left. */
  forget(name: string): Promise<void>
}

/** Opens a shell in the instance's tmux, found again, new or by its name; where it has none, a plain one. */
export async function openTmuxShell({
  clock,
  lease,
  open,
  wanted,
  taken,
  ours,
}: Opening): Promise<OpenedShell> {
  const shells = await tmuxShells(lease.connection, clock)
  if (shells === undefined) return { shell: await open(undefined), others: [] }
  const waiting = wanted.fresh ? [] : withNobody(shells, taken, await ours.names())
  const name =
    wanted.session ?? waiting[0] ?? freeName(new Set([...shells.map(one => one.name), ...taken.keys()]))
  const found = shells.some(one => one.name === name)
  taken.set(name, async () => undefined)
  try {
    // A connection that came back has what it said on the screen still.
    const before = found && wanted.session === undefined ? await historyOf(lease.connection, name, clock) : ''
    const shell = await open(tmuxCommand(name))
    await ours.note(name)
    const left = shell.left
      .then(isSure => (isSure && !taken.has(name) ? ours.forget(name) : undefined))
      // Where the disk does not take it, it is as after a lost connection.
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
