import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Guard } from '../model.ts'

/**
 * Updates how long a guard's instance has been idle, as far as polls showed: it starts again when a poll finds it busy
 * or not running, or comes too long after the last (`unseen`). Returns the same guard where nothing changed.
 */
export function withIdle(
  guard: Guard,
  instance: InstanceView | undefined,
  load: number | undefined,
  { now, unseen }: { now: number; unseen: boolean },
): Guard {
  if (guard.condition.kind !== 'idle') return guard
  const computes = load === undefined || load >= guard.condition.below
  const idle =
    instance !== undefined &&
    (hasTrait(instance.state, 'idle') || (instance.state === 'running' && !computes))
  const since = idle ? (unseen ? now : Math.min(guard.idleSince ?? now, now)) : undefined
  if (since === guard.idleSince) return guard
  const { idleSince: _, ...rest } = guard
  return since === undefined ? rest : { ...rest, idleSince: since }
}
