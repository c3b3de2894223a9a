import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Limit } from '../model.ts'

/**
 * Updates how long a limit's instance has been idle, as far as polls showed: it starts again when a poll finds it busy
 * or not running, or comes too long after the last (`unseen`). Returns the same limit where nothing changed.
 */
export function withIdle(
  limit: Limit,
  instance: InstanceView | undefined,
  load: number | undefined,
  { now, unseen }: { now: number; unseen: boolean },
): Limit {
  if (limit.condition.kind !== 'idle') return limit
  const computes = load === undefined || load >= limit.condition.below
  const idle =
    instance !== undefined &&
    (hasTrait(instance.state, 'idle') || (instance.state === 'running' && !computes))
  const since = idle ? (unseen ? now : Math.min(limit.idleSince ?? now, now)) : undefined
  if (since === limit.idleSince) return limit
  const { idleSince: _, ...rest } = limit
  return since === undefined ? rest : { ...rest, idleSince: since }
}
