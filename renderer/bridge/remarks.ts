import { isLimitedAgain } from '#shared/automation/limits-that-block.ts'
import { undoableWords } from '#shared/danger.ts'
import { instanceName } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import { type InstanceView, secondsToUndo, type UndoableAction } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'

/** A message of the page itself, shown for a moment. */
export interface Remark {
  id: number
  title: string
  body?: string
  problem?: Problem
  /** Of an alert, which the bell keeps; the others answer what the user has done. */
  isNews?: boolean
}

/** Adds a remark and keeps the last four, of alerts the last one. The same refusal is shown once. */
export function withRemark(remarks: readonly Remark[], remark: Remark): Remark[] {
  const others = remarks.filter(
    ({ title, problem, isNews }) =>
      !(problem && remark.problem && title === remark.title) && !(isNews && remark.isNews),
  )
  return [...others.slice(-3), remark]
}

/** Codes of the problems that mean that the service does not answer. */
const outage = new Set(['offline', 'connection_lost', 'timeout'])

/** The remark that is shown: an answer comes before an alert, and the last one before those before it. */
export function shownRemark(remarks: readonly Remark[]): Remark | undefined {
  const said = remarks.filter(({ problem }) => !problem)
  return said.findLast(({ isNews }) => !isNews) ?? said.at(-1)
}

/** The remarks that are still true once the account answers again. */
export function afterOutage(remarks: readonly Remark[]): Remark[] {
  return remarks.filter(({ problem }) => !problem || !outage.has(problem.code))
}

/** Actions that are not sent yet and can be undone together, with the seconds left for that. */
export interface Undoable {
  account: string
  action: UndoableAction
  instances: readonly number[]
  /** The action in words: `Stopping llama #4711`, `Stopping 5 instances`. */
  title: string
  /** Shown once it is undone: `llama #4711 keeps running.` */
  undone: string
  seconds: number
}

/** Milliseconds within which actions on several instances were asked for at once. */
const atOnce = 1000

/**
 * An account's actions that are not sent yet, the newest last; those asked for together are one. `localNow`: epoch
 * milliseconds of this machine.
 */
export function undoables(
  { id: account, undoable, instances, limits }: Pick<AccountView, 'id' | 'undoable' | 'instances' | 'limits'>,
  localNow: number,
): Undoable[] {
  const groups: { action: UndoableAction; sendAt: number; on: InstanceView[] }[] = []
  for (const [id, { action, sendAt }] of Object.entries(undoable).sort(
    ([, a], [, b]) => a.sendAt - b.sendAt,
  )) {
    const instance = instances[id]
    if (!instance) continue
    const last = groups.at(-1)
    if (last?.action === action && sendAt - last.sendAt < atOnce) last.on.push(instance)
    else groups.push({ action, sendAt, on: [instance] })
  }
  return groups.map(({ action, sendAt, on }) => {
    const { doing, undone } = undoableWords[action]
    const left = Math.ceil((sendAt - localNow) / 1000)
    const [first] = on
    const isOne = first !== undefined && on.length === 1
    const name = isOne ? instanceName(first) : counted(on.length, 'instance')
    const again = action === 'start' && on.some(({ id }) => isLimitedAgain({ limits }, id))
    const outcome = action === 'stop' && isOne && first.state !== 'running' ? 'was not stopped' : undone
    return {
      account,
      action,
      instances: on.map(({ id }) => id),
      title: `${doing} ${name}${again ? ' with its limit set again' : ''}`,
      undone: isOne ? `${name} ${outcome}.` : `${undoableWords[action].name} of ${name} was undone.`,
      seconds: Math.max(0, Math.min(secondsToUndo, left)),
    }
  })
}
