import { instanceName } from '#contract/format/name.ts'
import { secondsToUndo, type UndoableAction } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import type { AccountView } from '#contract/state.ts'

/** A message of the page itself, shown for a moment. */
export interface Remark {
  id: number
  title: string
  body?: string
  problem?: Problem
}

/** Adds a remark and keeps the last four. The same refusal is shown once. */
export function withRemark(remarks: readonly Remark[], remark: Remark): Remark[] {
  const others = remarks.filter(
    ({ title, problem }) => !(problem && remark.problem && title === remark.title),
  )
  return [...others.slice(-3), remark]
}

/** Codes of the problems that mean that the service does not answer. */
const outage = new Set(['offline', 'connection_lost', 'timeout'])

/** The remarks that are still true once the account answers again. */
export function afterOutage(remarks: readonly Remark[]): Remark[] {
  return remarks.filter(({ problem }) => !problem || !outage.has(problem.code))
}

/** An action that is not sent yet, with the seconds left to undo it. */
export interface Undoable {
  account: string
  instance: number
  /** The action in words: `Stopping llama #4711`. */
  title: string
  /** Shown once it is undone: `llama #4711 keeps running.` */
  undone: string
  seconds: number
}

interface ActionWords {
  /** The state shown meanwhile. */
  doing: string
  undone: string
  /** The words before the reason where it fails. */
  name: string
}

export const actionWords: Record<UndoableAction, ActionWords> = {
  stop: { doing: 'Stopping', undone: 'keeps running', name: 'Stop' },
  start: { doing: 'Starting', undone: 'stays stopped', name: 'Start' },
  reboot: { doing: 'Rebooting', undone: 'was not rebooted', name: 'Reboot' },
}

/** An account's actions that are not sent yet, the newest last. `localNow`: epoch milliseconds of this machine. */
export function undoables(
  { id: account, undoable, instances }: Pick<AccountView, 'id' | 'undoable' | 'instances'>,
  localNow: number,
): Undoable[] {
  return Object.entries(undoable)
    .sort(([, a], [, b]) => a.sendAt - b.sendAt)
    .map(([id, { action, sendAt }]) => {
      const instance = instances[id]
      const name = instanceName(instance ?? { id })
      const { doing, undone } = actionWords[action]
      const outcome =
        action === 'stop' && instance && instance.state !== 'running' ? 'was not stopped' : undone
      const left = Math.ceil((sendAt - localNow) / 1000)
      return {
        account,
        instance: Number(id),
        title: `${doing} ${name}`,
        undone: `${name} ${outcome}.`,
        seconds: Math.max(0, Math.min(secondsToUndo, left)),
      }
    })
}
