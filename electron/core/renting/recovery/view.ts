import type { RecoveryStep, RecoveryView } from '#contract/automation/recovery.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { recoveryMove } from './decide.ts'
import type { Recovery } from './model.ts'

/** A recovery for the page. `instance` is undefined until the first poll. */
export function recoveryView(
  recovery: Recovery,
  instance: InstanceView | undefined,
  now: number,
): RecoveryView {
  const { choice, raises, added, replacements, replaced, by, of, attemptSeries, held } = recovery
  return {
    choice,
    ...statusOf(recovery, instance, now),
    problem: held,
    raises,
    added,
    replacements,
    replaced,
    by,
    of,
    attemptSeries,
  }
}

function statusOf(
  recovery: Recovery,
  instance: InstanceView | undefined,
  now: number,
): { step: RecoveryStep; until?: number } {
  if (recovery.by !== undefined) return { step: 'replaced' }
  if (recovery.attemptSeries !== undefined) return { step: 'replacing' }
  if (recovery.asked) return { step: 'raising' }
  const move = instance && recoveryMove(recovery, instance, now)
  if (move?.do === 'wait') return { step: 'waiting', until: move.until }
  return { step: recovery.held ? 'held' : 'watching' }
}
