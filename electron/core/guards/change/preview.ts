import type { GuardPreview } from '../../../contract/automation/guard.ts'
import { blindness } from '../alerts/view.ts'
import { guardSentence } from '../alerts/words.ts'
import { targetsOf } from '../decide/choose-targets.ts'
import { withIdle } from '../decide/idle.ts'
import { dueOf } from '../decide/moment.ts'
import type { Known } from '../facts/facts.ts'
import type { Guard } from '../model.ts'

/** What a guard would do, and when, if it were set now. */
export function previewOf(guard: Guard, known: Known, now: number): GuardPreview {
  const { facts } = known
  const { account, loads } = facts
  const instance = guard.instance === undefined ? undefined : account.instances[guard.instance]
  const load = instance && (instance.gpuLoad ?? loads.get(instance.id)?.load)
  const idle = withIdle(guard, instance, load, { now, unseen: false })
  const dueAt = dueOf(idle, facts)
  const blind = blindness(guard, facts, now)
  return {
    sentence: guardSentence(guard, account.instances, now),
    dueAt: dueAt && Math.round(dueAt),
    targets: targetsOf(guard, known, now),
    doubt:
      blind?.code === 'no_gpu_load'
        ? 'The service does not tell its GPU load: Berth asks over SSH each minute, which must work.'
        : blind?.message,
  }
}
