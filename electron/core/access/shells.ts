import type { AccountId } from '../../contract/ids.ts'
import type { TmuxShell } from '../../contract/instance/terminal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ShellRequest } from '../../ssh/connection/connections.ts'
import { type Lease, withinTime } from '../../ssh/connection/sharing.ts'
import type { Shell } from '../../ssh/shell/shell.ts'
import { historyOf, tmuxShells } from '../../ssh/shell/tmux.ts'
import type { InstanceTarget } from './enter.ts'
import type { RememberedAccess } from './remembered.ts'
import { type OpenedShell, type OurShells, openTmuxShell, type ShellWanted } from './tmux-shells.ts'

/** The shells of all instances, plain or in their tmux. */
export interface Shells {
  /** A shell, in the instance's tmux where that is chosen and there is one. */
  openShell(target: InstanceTarget, wanted: ShellWanted): Promise<OpenedShell>
  /** The shells in the instance's tmux, undefined where it has none, and whether new ones go there. */
  tmuxShells(target: InstanceTarget): Promise<{ kept: boolean; shells?: readonly TmuxShell[] }>
  /** What scrolled out of the sight of a shell in tmux, with its escapes. */
  shellHistory(target: InstanceTarget, session: string): Promise<string>
  /** Leaves those that are open. */
  close(): Promise<void>
}

/** What shells are opened with. */
interface ShellParts {
  clock: Clock
  connect(target: InstanceTarget): Promise<Lease>
  open(target: InstanceTarget, request: ShellRequest): Promise<Shell>
  memoryOf(account: AccountId): RememberedAccess
  /** Whether shells live in tmux where nothing else is chosen for their instance. */
  isTmuxUsual(): boolean
}

export function createShells({ clock, connect, open, memoryOf, isTmuxUsual }: ShellParts): Shells {
  /** The shells of tmux's that are open here, by account and instance. */
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
      // A machine that does not answer keeps nobody.
      await withinTime(clock, Promise.all(leaving), 1000).catch(() => undefined)
    },
  }
}
