import type { AccountId } from '#contract/ids.ts'
import type { TmuxShell } from '#contract/instance/terminal.ts'
import type { Clock } from '#machine/machine.ts'
import type { ShellRequest } from '#ssh/connection/connections.ts'
import { type Lease, withinTime } from '#ssh/connection/sharing.ts'
import type { Shell } from '#ssh/shell/shell.ts'
import { historyOf, tmuxShells } from '#ssh/shell/tmux.ts'
import type { InstanceTarget } from './enter.ts'
import type { RememberedAccess } from './remembered.ts'
import { type OpenedShell, type OurShells, openTmuxShell, type ShellWanted } from './tmux-shells.ts'

/** The shells on all instances, plain or in tmux. */
export interface Shells {
  /** Opens a shell, in the instance's tmux where that is chosen and installed. */
  openShell(target: InstanceTarget, wanted: ShellWanted): Promise<OpenedShell>
  /** The shells in the instance's tmux (undefined where it is not installed), and whether new ones go there. */
  tmuxShells(target: InstanceTarget): Promise<{ kept: boolean; shells?: readonly TmuxShell[] }>
  /** The scrollback of a shell in tmux, with its escape sequences. */
  shellHistory(target: InstanceTarget, session: string): Promise<string>
  /** Closes the tmux shells in order. */
  close(): Promise<void>
}

/** What opening shells needs. */
interface ShellParts {
  clock: Clock
  connect(target: InstanceTarget): Promise<Lease>
  open(target: InstanceTarget, request: ShellRequest): Promise<Shell>
  memoryOf(account: AccountId): RememberedAccess
  /** Whether shells live in tmux, unless something else is chosen for the instance. */
  isTmuxUsual(): boolean
}

export function createShells({ clock, connect, open, memoryOf, isTmuxUsual }: ShellParts): Shells {
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

  async function over<Answer>(
    target: InstanceTarget,
    use: (lease: Lease) => Promise<Answer>,
  ): Promise<Answer> {
    const lease = await connect(target)
    try {
      return await use(lease)
    } finally {
      lease.release()
    }
  }

  return {
    async openShell(target, wanted) {
      const { columns, rows } = wanted
      const opened = (command: string | undefined) => open(target, { columns, rows, command })
      if (!(await usesTmux(target))) return { shell: await opened(undefined), others: [] }
      const ofInstance = shellsOf(target.account, target.instance.id)
      return over(target, lease => openTmuxShell({ clock, lease, open: opened, wanted, ...ofInstance }))
    },
    async tmuxShells(target) {
      const kept = await usesTmux(target)
      return { kept, shells: await over(target, ({ connection }) => tmuxShells(connection, clock)) }
    },
    shellHistory: (target, session) =>
      over(target, ({ connection }) => historyOf(connection, session, clock)),
    async close() {
      const leaving = [...inTmux.values()].flatMap(({ taken }) => [...taken.values()].map(leave => leave()))
      // An instance that does not answer must not delay the end of Berth.
      await withinTime(clock, Promise.all(leaving), 1000).catch(() => undefined)
    },
  }
}
