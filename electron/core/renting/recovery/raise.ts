import { rate } from '#contract/format/money.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Micros } from '#contract/spending/money.ts'
import { isDeepEqual } from '#core/state/same.ts'
import { ServiceError } from '#service/service-error.ts'
import { notifyOfRecovery } from './alerts.ts'
import { observedRecovery, refusedFor } from './decide.ts'
import type { Recovery, RecoveryParts } from './model.ts'

type RaiseParts = Pick<RecoveryParts, 'context' | 'recoveries'>

/** Sends a bid per hour. Throws the service's refusal; after a lost answer the next poll decides. */
export async function raiseBid(
  { context, recoveries }: RaiseParts,
  instance: InstanceView,
  recovery: Recovery,
  bid: Micros,
): Promise<void> {
  const { client, ending, now } = context
  const { id } = instance
  const from = recovery.asked?.from ?? instance.bid ?? 0
  const at = now()
  // Retries are reported once, not every time.
  const held = recovery.refused && recovery.held
  await recoveries.intend(id, { asked: { bid, from, at }, lastAt: at, held })
  try {
    await client().instances.changeBid(id, bid / 1_000_000, { signal: ending })
    // An instance that is meant to be stopped does not start by a bid alone.
    if (instance.intendedStatus !== 'running') await client().instances.start(id, { signal: ending })
  } catch (error) {
    if (ending.aborted || (error instanceof ServiceError && error.ambiguous)) return
    const wait = refusedFor(error)
    const refused = wait === undefined ? {} : { lastAt: recovery.lastAt, refused: { at: now(), wait } }
    await recoveries.update(id, { asked: undefined, ...refused })
    throw error
  }
  const after = recoveries.find(id)
  if (ending.aborted || !after) return
  takeOver({ context, recoveries }, { ...instance, bid }, after)
  void context.poll()
}

/** Updates the recovery from its instance, and alerts on a confirmed raise. */
export function takeOver(
  { context, recoveries }: RaiseParts,
  instance: InstanceView,
  recovery: Recovery,
): Recovery {
  const after = observedRecovery(recovery, instance, context.now())
  if (isDeepEqual(recovery, after)) return recovery
  void recoveries.update(instance.id, () => after)
  if (after.raises > recovery.raises)
    notifyOfRecovery(context, instance, `Raised the bid to ${rate(after.own ?? 0)}`)
  return after
}
