import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Guard } from '../model.ts'

/**
 * The guard with how long its instance has been idle, as far as it was seen: a poll that finds it busy or not
 * running, or one that comes too long after the last (`unseen`), begins anew. The same guard where nothing has changed.
 */
export function withIdle(
  guard: Guard,
  instance: InstanceView | undefined,
  load: number | undefined,
  { now, unseen }: { now: number; unseen: boolean },
): Guard {
  if (guard.condition.kind !== 'idle') return guard
  const idle = instance?.state === 'running' && load !== undefined && load < guard.condition.below
  const since = idle ? (unseen ? now : Math.min(guard.idleSince ?? now, now)) : undefined
  if (since === guard.idleSince) return guard
  const { idleSince: _, ...rest } = guard
  return since === undefined ? rest : { ...rest, idleSince: since }
}
