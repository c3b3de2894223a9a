import { hasEnded } from '../../../../electron/contract/automation/guard.ts'
import type { LoggedRequest } from '../../../../simulator/http/request-log.ts'
import type { Look, Stretch, Timeline } from '../timeline.ts'

/** What became of all guards. */
export interface Kept {
  /** How often a guard acted on its instance. */
  acted: number
  /** Guards whose moment passed while Berth could not look, and that only said so, as was chosen. */
  missed: number
  /** Where one was not kept, and how. */
  broken: string[]
}

/**
 * Whether every guard was kept by the first fresh answer after its moment: while one waits, no second fresh answer may
 * come that was asked for after that. `blur` is by how many seconds of world time Berth may be wrong about what time it
 * is.
 */
export function guardsKept(
  { guards, looks }: Timeline,
  requests: readonly LoggedRequest[],
  blur: number,
): Kept {
  const kept: Kept = { acted: 0, missed: 0, broken: [] }
  for (const [id, stretches] of guards) {
    for (const [index, stretch] of stretches.entries()) {
      const late = overdue(stretch, looks, blur)
      if (late.length > 1) kept.broken.push(`${tale(id, stretch)} waited through looks at ${late.join(', ')}`)
      const next = stretches[index + 1]
      if (!next || hasEnded(stretch.guard) || !hasEnded(next.guard)) continue
      if (next.guard.step === 'missed') {
        kept.missed += 1
        const problem = wronglyMissed(stretch, looks, blur)
        if (problem) kept.broken.push(`${tale(id, stretch)} ${problem}`)
      }
      if (next.guard.step !== 'done') continue
      kept.acted += 1
      // Begun, and killed before it asked: what it was to do may have been done by another meanwhile.
      if (next.instances[stretch.guard.instance ?? ''] !== 'running') continue
      if (!wasDone(stretch, stretches[0]?.from ?? 0, next.from, requests, blur))
        kept.broken.push(`${tale(id, stretch)} says that it acted, but asked for nothing`)
    }
  }
  return kept
}

/** The fresh answers through which it waited though it was due. */
function overdue({ guard, instances, from, until }: Stretch, looks: readonly Look[], blur: number): number[] {
  if (guard.dueAt === undefined || (guard.step !== 'waiting' && guard.step !== 'warned')) return []
  // One on the account has nothing to do while nothing runs.
  if (guard.instance === undefined && !Object.values(instances).includes('running')) return []
  const since = Math.max(from, guard.dueAt + blur)
  if (since >= until) return []
  return looks.filter(({ at, until: end, sure }) => sure && at > since && end < until).map(({ at }) => at)
}

/** Being told only is for a moment at which nobody looked. */
function wronglyMissed({ guard }: Stretch, looks: readonly Look[], blur: number): string | undefined {
  if (guard.missed === 'act') return 'was to act however late, and did not'
  const due = guard.dueAt
  if (due === undefined) return undefined
  const soonAfter = looks.find(({ at, sure }) => sure && at > due + blur && at < due + 600 - blur)
  return soonAfter && `was missed, but the account was seen at ${soonAfter.at}`
}

function wasDone(
  { guard }: Stretch,
  from: number,
  until: number,
  requests: readonly LoggedRequest[],
  blur: number,
): boolean {
  if (guard.instance === undefined) return true
  const method = guard.action === 'stop' ? 'PUT' : 'DELETE'
  return requests.some(
    ({ method: asked, path, at }) =>
      asked === method && path === `/api/v0/instances/${guard.instance}/` && at >= from && at <= until + blur,
  )
}

function tale(id: string, { guard, from, until }: Stretch): string {
  const { instance, condition, action, step, dueAt } = guard
  return `guard ${id} (${condition.kind}, ${action} ${instance ?? 'all'}, ${step}, due at ${dueAt}, shown so from ${from} to ${until})`
}
