import type { RecoveryChoice } from '#contract/automation/recovery.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { spentBy } from '#contract/reading.ts'
import type { Instance } from '#service/instances.ts'
import { spentOn } from '../attempts/model.ts'
import { nothingAsGoodCode } from '../attempts/words.ts'
import { noteOfRecovery } from './alerts.ts'
import { isNeedless } from './decide.ts'
import { freshRecovery, type Recovery, type RecoveryParts } from './model.ts'
import { othersReplacement } from './others.ts'
import { replacementFor } from './replacement.ts'

/** Starts the series of attempts for a replacement. Throws why none can be rented. */
export async function rentReplacement(
  parts: RecoveryParts,
  instance: InstanceView,
  { choice, attemptSeries, held }: Recovery,
): Promise<void> {
  const { context, recoveries, rentals, attempts } = parts
  const { id } = instance
  if (choice.kind !== 'replace') return
  const other = othersReplacement(id, parts.records(), rentals.knows)
  if (other) return leaveTo(parts, instance, other)
  const request = replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
  const chosen = attemptSeries ?? `f${context.newId()}`
  // The market is searched repeatedly; that it has nothing is reported once.
  const still = held?.code === nothingAsGoodCode ? held : undefined
  await recoveries.intend(id, { attemptSeries: chosen, lastAt: context.now(), held: still })
  // The user may change the choice at any moment.
  if (recoveries.find(id)?.choice.kind !== 'replace') return
  await attempts.start(request, chosen)
  if (recoveries.find(id)?.choice.kind !== 'replace') await cancelReplacement(attempts, chosen)
}

/** Cancels the series of attempts, unless it has ended otherwise. */
export async function cancelReplacement(
  attempts: RecoveryParts['attempts'],
  attemptSeries: string,
): Promise<void> {
  const step = attempts.find(attemptSeries)?.step
  if (step === 'trying' || step === 'cancelled') await attempts.cancel(attemptSeries, true)
}

/** Handles the progress of the series of attempts. Throws why it has failed. */
export async function followReplacement(
  parts: RecoveryParts,
  instance: InstanceView,
  recovery: Recovery,
): Promise<void> {
  const { recoveries, rentals, attempts } = parts
  const { id } = instance
  const attemptSeries =
    recovery.attemptSeries === undefined ? undefined : attempts.find(recovery.attemptSeries)
  // Berth ended before the series was stored, or the choice has changed since.
  if (!attemptSeries && (recovery.choice.kind !== 'replace' || instance.state !== 'outbid'))
    return void (await recoveries.update(id, { attemptSeries: undefined }))
  if (!attemptSeries) return rentReplacement(parts, instance, recovery)
  const other = othersReplacement(id, parts.records(), rentals.knows)
  const replaced = recovery.replaced + spentOn(attemptSeries)
  switch (attemptSeries.step) {
    case 'trying': {
      const own = attemptSeries.attempts.findLast(one => one.cost === undefined)?.instance
      const mine = parts.records().find(record => record.id === own)
      if (!attemptSeries.unwanted && isNeedless(recovery, instance, mine, other))
        await attempts.cancel(attemptSeries.id, true)
      return
    }
    case 'ready':
      return handOver(parts, instance, recovery, attemptSeries.instance, replaced)
    case 'failed':
      await recoveries.update(id, { attemptSeries: undefined, replaced })
      if (attemptSeries.problem && instance.state === 'outbid') throw new BerthError(attemptSeries.problem)
      return
    case 'cancelled': {
      // If the user cancels a replacement, the recovery is off.
      const over = !other && !attemptSeries.needless && recovery.choice.kind === 'replace'
      const choice: RecoveryChoice = over ? { kind: 'tell' } : recovery.choice
      // An earlier failure no longer matters.
      const held = over ? undefined : recovery.held
      await recoveries.update(id, { attemptSeries: undefined, replaced, choice, held })
      if (other) await leaveTo(parts, instance, other)
    }
  }
}

async function leaveTo(
  { context, recoveries }: RecoveryParts,
  instance: InstanceView,
  { id: by }: Instance,
): Promise<void> {
  await recoveries.update(instance.id, {
    by,
    attemptSeries: undefined,
    held: undefined,
    lastAt: context.now(),
  })
  const text = `Another Berth has rented #${by} in the place of it`
  noteOfRecovery(context, instance, text)
}

/** The replacement takes over, with the recovery's choice unless the user made one for it. */
async function handOver(
  { context, recoveries, attempts }: RecoveryParts,
  instance: InstanceView,
  recovery: Recovery,
  by: number | undefined,
  dropped: number,
): Promise<void> {
  if (by === undefined) return
  const itself = recovery.of === undefined ? 0 : spentBy(instance, context.now())
  // Otherwise, after a kill, the series would continue and drop the instance that took over.
  await attempts.written()
  const replaced = recoveries.find(instance.id)
  const { choice, lastAt, replacements } = replaced ?? recovery
  const over = { by, attemptSeries: undefined, replaced: dropped, held: undefined }
  await recoveries.put(...(replaced ? [{ ...replaced, ...over } as Recovery] : []), {
    ...(recoveries.find(by) ?? freshRecovery(by, choice, context.now())),
    ...(lastAt === undefined ? {} : { lastAt }),
    replacements: replacements + 1,
    replaced: dropped + itself,
    of: instance.id,
  })
  noteOfRecovery(context, instance, `Replaced by #${by}`)
}
