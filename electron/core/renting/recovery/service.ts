import type { RecoveryChoice } from '#contract/automation/recovery.ts'
import type { Starting } from '#contract/automation/stoppers.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import type { AccountContext, Automation } from '#core/account-context.ts'
import { endInstance } from '#core/actions/end-instance.ts'
import { lackedBy } from '#core/app/permission.ts'
import { problemOf } from '#core/app/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-polls.ts'
import { limitVeto } from '#core/limits/veto.ts'
import { openCollection } from '#core/storage/collection.ts'
import type { Instance } from '#service/instances.ts'
import { noteOfRecovery, notifyOfRecovery } from './alerts.ts'
import { notInterruptible, recoveryMove } from './decide.ts'
import { freshRecovery, Recovery, type RecoveryParts } from './model.ts'
import { raiseBid, takeOver } from './raise.ts'
import { cancelReplacement, followReplacement, rentReplacement } from './replace.ts'
import { replacementFor } from './replacement.ts'
import { recoveryView } from './view.ts'

/** The recoveries of one account: what Berth does for interruptible instances that are outbid, as chosen for each. */
export interface Recoveries extends Automation {
  /** Throws `not_interruptible`, or why a replacement could not be rented as the instance was. */
  choose(instance: InstanceView, choice: RecoveryChoice): Promise<void>
}

export async function openRecoveries(
  context: AccountContext,
  rentals: RecoveryParts['rentals'],
  attempts: RecoveryParts['attempts'],
): Promise<Recoveries> {
  const { ending, now } = context
  /** Instances with a recovery in progress. */
  const busy = new Set<number>()
  let instances: Readonly<Record<string, InstanceView>> = {}
  let records: readonly Instance[] = []
  const recoveries = await openCollection(context, {
    name: 'recoveries',
    schema: Recovery,
    key: ({ instance }) => instance,
    view: all => ({
      recoveries: Object.fromEntries(
        all.map(recovery => [recovery.instance, recoveryView(recovery, instances[recovery.instance], now())]),
      ),
    }),
  })
  const { all, find } = recoveries
  const parts: RecoveryParts = { context, recoveries, rentals, attempts, records: () => records }

  async function pursue(instance: InstanceView, recovery: Recovery): Promise<void> {
    const { id } = instance
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      await carryOut(parts, instance, recovery)
    } catch (error) {
      // All actions are stored, so the next poll continues from there.
      const why = lackedBy(error, 'instance_write') ?? problemOf(error)
      const before = find(id)
      if (ending.aborted || !before || before.held?.code === why.code) return
      await recoveries.update(id, { held: why })
      notifyOfRecovery(context, instance, 'Not recovered', why)
    } finally {
      busy.delete(id)
    }
  }

  /** The instance is gone. Its replacement in progress is cancelled, since nobody would follow it. */
  async function forget({ instance: id, attemptSeries }: Recovery): Promise<void> {
    busy.add(id)
    try {
      // A series that has ended meanwhile stays as it is.
      if (attemptSeries !== undefined) await cancelReplacement(attempts, attemptSeries).catch(() => undefined)
      await recoveries.forget(id)
    } finally {
      busy.delete(id)
    }
  }

  return {
    async choose(instance, choice) {
      const { id } = instance
      if (!instance.interruptible) throw new BerthError(notInterruptible)
      if (choice.kind === 'replace')
        replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
      const { attemptSeries } = find(id) ?? {}
      // Choosing a replacement again after cancelling one asks for another.
      if (attemptSeries !== undefined && attempts.find(attemptSeries)?.unwanted)
        await cancelReplacement(attempts, attemptSeries)
      const before = find(id)
      const after = { ...(before ?? freshRecovery(id, choice, now())), choice }
      const { held: _, refused: __, ...kept } = after
      await recoveries.add(kept)
      const running = before?.attemptSeries
      if (running !== undefined && choice.kind !== 'replace') await cancelReplacement(attempts, running)
      void context.poll()
    },
    onPoll(poll) {
      instances = poll.account.instances
      records = poll.records
      for (const recovery of all()) {
        const { instance: id } = recovery
        const instance = instances[id]
        if (!instance) {
          if (poll.pollsMissing(id) >= pollsUntilGone && !busy.has(id)) void forget(recovery)
          continue
        }
        if (!busy.has(id)) void pursue(instance, takeOver(parts, instance, recovery))
      }
      recoveries.show()
    },
    show: recoveries.show,
    dueAt(after) {
      const moments = all().flatMap(recovery => {
        const instance = instances[recovery.instance]
        const move = instance && recoveryMove(recovery, instance, now())
        return move?.do === 'wait' && move.until > after ? [move.until] : []
      })
      return Math.min(...moments)
    },
    flush: recoveries.flush,
  }
}

/** Performs the next move. Throws the reason where it cannot. */
async function carryOut(parts: RecoveryParts, instance: InstanceView, recovery: Recovery): Promise<void> {
  const { context } = parts
  const move = recoveryMove(recovery, instance, context.now())
  switch (move.do) {
    case 'raise':
      refuseWhereLimited(context, { instance: instance.id, more: move.bid })
      return raiseBid(parts, instance, recovery, move.bid)
    case 'rent':
      refuseWhereLimited(context, { more: instance.minimumBid ?? 0 })
      return rentReplacement(parts, instance, recovery)
    case 'follow':
      return followReplacement(parts, instance, recovery)
    case 'hold':
      throw new BerthError(move.why)
    case 'stop':
      await endInstance(context.client(), instance.id, 'stop', context.ending)
      noteOfRecovery(context, instance, 'Stopped, since another instance replaced it')
      return void context.poll()
  }
}

/** Throws if a limit would stop the instance at the next poll. */
function refuseWhereLimited({ account, store, now }: AccountContext, starting: Starting): void {
  const why = limitVeto(store.get().accounts[account], starting, now())
  if (why) throw new BerthError(why)
}
