import type { GuardStep, GuardView } from '../../../contract/automation/guard.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { present } from '../../present.ts'
import type { Guard } from '../guard.ts'
import { guardSentence } from './guard-words.ts'

/** A guard as the page shows it. `dueAt` as the newest look has it; `acting` while requests of its are under way. */
export function guardView(
  guard: Guard,
  seen: {
    instances: Readonly<Record<string, InstanceView>>
    now: number
    dueAt: number | undefined
    acting: boolean
    blind: boolean
  },
): GuardView {
  const { id, instance, condition, action, warning, missed, snoozedUntil, history } = guard
  const step = stepOf(guard, seen.acting)
  const asleep = snoozedUntil !== undefined && snoozedUntil > seen.now
  return present({
    id,
    instance,
    condition,
    action,
    warning,
    missed,
    sentence: guardSentence(guard, seen.instances, seen.now),
    step,
    dueAt: guard.ended ? undefined : seen.dueAt,
    snoozedUntil: asleep ? snoozedUntil : undefined,
    problem: guard.problem ?? (seen.blind ? blind : undefined),
    history,
  })
}

const blind = {
  code: 'no_gpu_load',
  message: 'Its GPU load is not known, so this guard cannot act.',
  advice: 'The service does not tell it, and it could not be asked over SSH. Open a terminal to see why.',
}

function stepOf(guard: Guard, acting: boolean): GuardStep {
  if (guard.ended) return guard.ended
  if (acting) return 'acting'
  if (guard.passed) return 'missed'
  if (guard.heldAt !== undefined || guard.failures !== undefined) return 'held'
  return guard.warnedAt === undefined ? 'waiting' : 'warned'
}
