import type { RecoveryChoice } from '../../../contract/automation/recovery.ts'
import type { Starting } from '../../../contract/automation/stoppers.ts'
import { rate } from '../../../contract/format/money.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import { spentBy } from '../../../contract/reading.ts'
import type { Instance } from '../../../service/instances.ts'
import { ServiceError } from '../../../service/service-error.ts'
import type { AccountContext, Automation } from '../../account-context.ts'
import { lackedBy } from '../../app/permission.ts'
import { problemOf } from '../../app/problems.ts'
import { guardVeto } from '../../guards/guard-veto.ts'
import { pollsUntilGone } from '../../instances/missing-instances.ts'
import { same } from '../../state/same.ts'
import { openCollection } from '../../storage/collection.ts'
import { spentOn } from '../attempts/model.ts'
import type { Failovers } from '../attempts/service.ts'
import { nothingAsGoodCode } from '../attempts/words.ts'
import type { Rentals } from '../rentals/service.ts'
import { notifyOfRecovery } from './alerts.ts'
import { notInterruptible, observed, type RecoveryMove, recoveryMove, refusedFor } from './decide.ts'
import { freshRecovery, Recovery } from './model.ts'
import { givesWay, othersReplacement } from './others.ts'
import { replacementFor } from './replacement.ts'
import { recoveryView } from './view.ts'

/** What Berth does by itself for the interruptible instances of one account once they are outbid, each by choice. */
export interface Recoveries extends Automation {
  /** Throws `not_interruptible`, and what keeps a replacement from being rented as the instance was. */
  choose(instance: InstanceView, choice: RecoveryChoice): Promise<void>
}

export async function openRecoveries(
  context: AccountContext,
  rentals: Pick<Rentals, 'ofInstance' | 'knows'>,
  failovers: Pick<Failovers, 'start' | 'cancel' | 'find' | 'written'>,
): Promise<Recoveries> {
  const { account, store, client, ending, now } = context
  /** Instances this process is acting on. */
  const busy = new Set<number>()
  const missing = new Map<number, number>()
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
  const { all, find, intend, update } = recoveries
  const tell = (event: Parameters<typeof notifyOfRecovery>[1]) => notifyOfRecovery(context, event)

  async function pursue(instance: InstanceView, recovery: Recovery): Promise<void> {
    const { id } = instance
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      await perform(instance, recovery, recoveryMove(recovery, instance, now()))
    } catch (error) {
      // Nothing was done that is not on disk: the next fresh look goes on from there.
      if (!ending.aborted && find(id))
        await hold(instance, lackedBy(error, 'instance_write') ?? problemOf(error))
    } finally {
      busy.delete(id)
    }
  }

  async function perform(instance: InstanceView, recovery: Recovery, move: RecoveryMove): Promise<void> {
    switch (move.do) {
      case 'raise':
        return withinGuards(instance, { instance: instance.id, more: move.bid }, () =>
          raise(instance, recovery, move.bid),
        )
      case 'rent':
        return withinGuards(instance, { more: instance.minimumBid ?? 0 }, () => rent(instance, recovery))
      case 'follow':
        return follow(instance, recovery)
      case 'hold':
        return hold(instance, move.why)
      case 'stop':
        await client().instances.stop(instance.id, { signal: ending })
        tell({ instance, kind: 'note', text: 'Stopped for good, since another has its place' })
        return void context.poll()
    }
  }

  /** Nothing is made to run that a guard would stop at the next look. */
  async function withinGuards(
    instance: InstanceView,
    starting: Starting,
    act: () => Promise<void>,
  ): Promise<void> {
    const why = guardVeto(store.get().accounts[account], starting, now())
    return why ? hold(instance, why) : act()
  }

  async function raise(instance: InstanceView, recovery: Recovery, bid: number): Promise<void> {
    const { id } = instance
    const from = recovery.asked?.from ?? instance.bid ?? 0
    const at = now()
    // What is tried again soon is told once, not at every try.
    await intend(id, { asked: { bid, from, at }, lastAt: at, held: recovery.refused && recovery.held })
    try {
      await client().instances.changeBid(id, bid / 1_000_000, { signal: ending })
      // Shown as wished to be stopped, it would not run by a bid alone.
      if (instance.intendedStatus !== 'running') await client().instances.start(id, { signal: ending })
    } catch (error) {
      if (ending.aborted || (error instanceof ServiceError && error.ambiguous)) return
      const wait = refusedFor(error)
      const refused = wait === undefined ? {} : { lastAt: recovery.lastAt, refused: { at: now(), wait } }
      await update(id, { asked: undefined, ...refused })
      throw error
    }
    const after = find(id)
    if (ending.aborted || !after) return
    take({ ...instance, bid }, after)
    void context.poll()
  }

  /** Takes over what is seen, and tells of a raise that is seen to hold. */
  function take(instance: InstanceView, recovery: Recovery): Recovery {
    const after = observed(recovery, instance, now())
    if (same(recovery, after)) return recovery
    void update(instance.id, () => after)
    if (after.raises > recovery.raises)
      tell({ instance, kind: 'done', text: `Raised the bid to ${rate(after.own ?? 0)}` })
    return after
  }

  async function hold(instance: InstanceView, why: Problem): Promise<void> {
    if (find(instance.id)?.held?.code === why.code) return
    await update(instance.id, { held: why })
    tell({ instance, kind: 'held', text: 'Not recovered', problem: why })
  }

  async function rent(instance: InstanceView, { choice, failover, held }: Recovery): Promise<void> {
    const { id } = instance
    if (choice.kind !== 'replace') return
    const other = othersReplacement(id, records, rentals.knows)
    if (other) return leaveTo(instance, other)
    const request = replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
    const chosen = failover ?? `f${context.newId()}`
    // The market is asked again and again: that it has nothing is told once.
    const still = held?.code === nothingAsGoodCode ? held : undefined
    await intend(id, { failover: chosen, lastAt: now(), held: still })
    // The user may choose otherwise at any moment of it.
    if (find(id)?.choice.kind !== 'replace') return
    await failovers.start(request, chosen)
    if (find(id)?.choice.kind !== 'replace') await cancel(chosen)
  }

  async function cancel(failover: string): Promise<void> {
    const step = failovers.find(failover)?.step
    if (step === 'trying' || step === 'cancelled') await failovers.cancel(failover, true)
  }

  /** It is gone. What was to take its place goes with it: nobody would see to that any more. */
  async function forget({ instance: id, failover }: Recovery): Promise<void> {
    busy.add(id)
    try {
      // One that has ended meanwhile stays as it is.
      if (failover !== undefined) await cancel(failover).catch(() => undefined)
      await recoveries.forget(id)
    } finally {
      missing.delete(id)
      busy.delete(id)
    }
  }

  async function leaveTo(instance: InstanceView, other: Instance): Promise<void> {
    await update(instance.id, { by: other.id, failover: undefined, held: undefined })
    tell({ instance, kind: 'note', text: `Another Berth has rented #${other.id} in the place of it` })
  }

  async function follow(instance: InstanceView, recovery: Recovery): Promise<void> {
    const { id } = instance
    const failover = recovery.failover === undefined ? undefined : failovers.find(recovery.failover)
    // Berth ended before the failover was on disk, or another choice was faster.
    if (!failover && (recovery.choice.kind !== 'replace' || instance.state !== 'outbid'))
      return void (await update(id, { failover: undefined }))
    if (!failover) return rent(instance, recovery)
    const dropped = recovery.replaced + spentOn(failover)
    switch (failover.step) {
      case 'trying':
        return cancelIfNeedless(instance, recovery.choice, failover)
      case 'ready':
        return handOver(instance, recovery, failover.instance, dropped)
      case 'failed':
        await update(id, { failover: undefined, replaced: dropped })
        if (failover.problem && instance.state === 'outbid') await hold(instance, failover.problem)
        return
      case 'cancelled': {
        const other = othersReplacement(id, records, rentals.knows)
        // The user's cancelling of a replacement is the end of it.
        const over = !other && !failover.needless && recovery.choice.kind === 'replace'
        const choice: RecoveryChoice = over ? { kind: 'tell' } : recovery.choice
        // What could not be done before is nothing that is still wanted.
        const held = over ? undefined : recovery.held
        await update(id, { failover: undefined, replaced: dropped, choice, held })
        if (other) await leaveTo(instance, other)
      }
    }
  }

  /**
   * While a replacement is rented: not where the choice is another by now, where the instance runs again, or where another
   * Berth has one.
   */
  async function cancelIfNeedless(
    instance: InstanceView,
    choice: RecoveryChoice,
    { id, attempts, unwanted }: NonNullable<ReturnType<Failovers['find']>>,
  ) {
    if (unwanted) return
    const other = othersReplacement(instance.id, records, rentals.knows)
    const own = attempts.findLast(one => one.cost === undefined)?.instance
    const mine = records.find(record => record.id === own)
    const needless = choice.kind !== 'replace' || instance.state === 'running'
    if (needless || (other && givesWay(mine, other))) await failovers.cancel(id, true)
  }

  /** The replacement has the place from here on, and the choice goes on with it, where the user has not made one for it. */
  async function handOver(
    instance: InstanceView,
    recovery: Recovery,
    by: number | undefined,
    dropped: number,
  ) {
    if (by === undefined) return
    const itself = recovery.of === undefined ? 0 : spentBy(instance, now())
    // A kill must not let it go on, and drop what has the place.
    await failovers.written()
    const replaced = find(instance.id)
    const { choice, lastAt, replacements } = replaced ?? recovery
    const over = { by, failover: undefined, replaced: dropped, held: undefined }
    await recoveries.put(...(replaced ? [{ ...replaced, ...over } as Recovery] : []), {
      ...(find(by) ?? freshRecovery(by, choice, now())),
      ...(lastAt === undefined ? {} : { lastAt }),
      replacements: replacements + 1,
      replaced: dropped + itself,
      of: instance.id,
    })
    tell({ instance, kind: 'note', text: `Replaced by #${by}` })
  }

  recoveries.show()
  return {
    async choose(instance, choice) {
      const { id } = instance
      if (!instance.interruptible) throw new BerthError(notInterruptible)
      if (choice.kind === 'replace')
        replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
      const { failover } = find(id) ?? {}
      // Who wishes for a replacement after they have cancelled one wishes for another.
      if (failover !== undefined && failovers.find(failover)?.unwanted) await cancel(failover)
      const before = find(id)
      const after = { ...(before ?? freshRecovery(id, choice, now())), choice }
      const { held: _, refused: __, ...kept } = after
      await recoveries.add(kept)
      const running = before?.failover
      if (running !== undefined && choice.kind !== 'replace') await cancel(running)
      void context.poll()
    },
    onPoll(look) {
      instances = look.account.instances
      records = look.records
      for (const recovery of all()) {
        const { instance: id } = recovery
        const instance = instances[id]
        if (!instance) {
          const absent = (missing.get(id) ?? 0) + 1
          missing.set(id, absent)
          if (absent >= pollsUntilGone && !busy.has(id)) void forget(recovery)
          continue
        }
        missing.delete(id)
        if (!busy.has(id)) void pursue(instance, take(instance, recovery))
      }
      recoveries.show()
    },
    resume: recoveries.show,
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
