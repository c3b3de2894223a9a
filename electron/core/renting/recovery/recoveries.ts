import type { RecoveryChoice, RecoveryView } from '../../../contract/automation/recovery.ts'
import type { Starting } from '../../../contract/automation/stoppers.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import { spentBy } from '../../../contract/reading.ts'
import type { Instance } from '../../../service/instances.ts'
import { ServiceError } from '../../../service/service-error.ts'
import { lackedBy } from '../../app/permission.ts'
import { problemOf } from '../../app/problems.ts'
import { looksUntilGone } from '../../instances/gone.ts'
import { present } from '../../state/present.ts'
import { same } from '../../state/same.ts'
import type { Failovers } from '../attempts/attempts.ts'
import { spentOn } from '../attempts/attempts-model.ts'
import { nothingAsGoodCode } from '../attempts/sentences.ts'
import { givesWay, othersReplacement } from './others.ts'
import { freshRecovery, type Recovery } from './recovery.ts'
import type { Answer, RecoveriesContext } from './recovery-context.ts'
import { notInterruptible, observed, type RecoveryMove, recoveryMove, refusedFor } from './recovery-move.ts'
import { recoveryView } from './recovery-view.ts'
import { replacementFor } from './replacement.ts'

/** What Berth does by itself for the interruptible instances of one account once they are outbid, each by choice. */
export interface Recoveries {
  /** Throws `not_interruptible`, and what keeps a replacement from being rented as the instance was. */
  choose(instance: InstanceView, choice: RecoveryChoice): Promise<void>
  looked(answer: Answer): void
  dueAt(): number | undefined
  view(): Record<string, RecoveryView>
}

type Change = { [Field in keyof Recovery]?: Recovery[Field] | undefined }

export function createRecoveries(context: RecoveriesContext): Recoveries {
  const { document, failovers, rentals, client, ending, now, tell } = context
  /** Instances this process is acting on. */
  const busy = new Set<number>()
  const missing = new Map<number, number>()
  let latest: Answer = { instances: {}, records: [] }
  const recoveryOf = (id: number): Recovery | undefined => document.get()[id]

  const changing = (id: number, change: Change) => (all: Record<string, Recovery>) => {
    const recovery = all[id]
    return recovery ? { ...all, [id]: present({ ...recovery, ...change }) as Recovery } : all
  }
  /** Before something is done: rejects where it cannot be written, and then nothing is done. */
  async function intend(id: number, change: Change): Promise<void> {
    await document.write(changing(id, change))
    context.changed()
  }
  async function update(id: number, change: Change): Promise<void> {
    const written = document.record(changing(id, change))
    context.changed()
    await written
  }

  async function pursue(instance: InstanceView, recovery: Recovery): Promise<void> {
    const { id } = instance
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      await perform(instance, recovery, recoveryMove(recovery, instance, now()))
    } catch (error) {
      // Nothing was done that is not on disk: the next fresh look goes on from there.
      if (!ending.aborted && recoveryOf(id))
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
    const why = context.heldBack(starting)
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
    const after = recoveryOf(id)
    if (ending.aborted || !after) return
    take({ ...instance, bid }, after)
    void context.poll()
  }

  /** Takes over what is seen, and tells of a raise that is seen to hold. */
  function take(instance: InstanceView, recovery: Recovery): Recovery {
    const after = observed(recovery, instance, now())
    if (same(recovery, after)) return recovery
    void document.record(all => ({ ...all, [instance.id]: after }))
    context.changed()
    if (after.raises > recovery.raises)
      tell({ instance, kind: 'done', text: `Raised the bid to $${(after.own ?? 0) / 1_000_000}/h` })
    return after
  }

  async function hold(instance: InstanceView, why: Problem): Promise<void> {
    if (recoveryOf(instance.id)?.held?.code === why.code) return
    await update(instance.id, { held: why })
    tell({ instance, kind: 'held', text: 'Not recovered', problem: why })
  }

  async function rent(instance: InstanceView, { choice, failover, held }: Recovery): Promise<void> {
    const { id } = instance
    if (choice.kind !== 'replace') return
    const other = othersReplacement(id, latest.records, rentals.knows)
    if (other) return leaveTo(instance, other)
    const wish = replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
    const chosen = failover ?? `f${context.newId()}`
    // The market is asked again and again: that it has nothing is told once.
    const still = held?.code === nothingAsGoodCode ? held : undefined
    await intend(id, { failover: chosen, lastAt: now(), held: still })
    // The user may choose otherwise at any moment of it.
    if (recoveryOf(id)?.choice.kind !== 'replace') return
    await failovers.start(wish, chosen)
    if (recoveryOf(id)?.choice.kind !== 'replace') await cancel(chosen)
  }

  async function cancel(failover: string): Promise<void> {
    const step = failovers.find(failover)?.step
    if (step === 'trying' || step === 'cancelled') await failovers.cancel(failover, true)
  }

  /** It is gone. What was to take its place goes with it: nobody would see to that any more. */
  async function forget(id: number, { failover }: Recovery): Promise<void> {
    busy.add(id)
    try {
      // One that has ended meanwhile stays as it is.
      if (failover !== undefined) await cancel(failover).catch(() => undefined)
      await document.record(({ [id]: _, ...rest }) => rest)
      context.changed()
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
      return update(id, { failover: undefined })
    if (!failover) return rent(instance, recovery)
    const dropped = recovery.replaced + spentOn(failover)
    switch (failover.step) {
      case 'trying':
        return watch(instance, recovery.choice, failover)
      case 'ready':
        return handOver(instance, recovery, failover.instance, dropped)
      case 'failed':
        await update(id, { failover: undefined, replaced: dropped })
        if (failover.problem && instance.state === 'outbid') await hold(instance, failover.problem)
        return
      case 'cancelled': {
        const other = othersReplacement(id, latest.records, rentals.knows)
        // The user's cancelling of a replacement is the end of it.
        const over = !other && !failover.needless && recovery.choice.kind === 'replace'
        const choice: RecoveryChoice = over ? { kind: 'tell' } : recovery.choice
        await update(id, { failover: undefined, replaced: dropped, choice })
        if (other) await leaveTo(instance, other)
      }
    }
  }

  /**
   * While it is rented: neither against another choice, nor beside the instance itself, running again, nor beside
   * another Berth's replacement.
   */
  async function watch(
    instance: InstanceView,
    choice: RecoveryChoice,
    { id, tries, unwanted }: NonNullable<ReturnType<Failovers['find']>>,
  ) {
    if (unwanted) return
    const other = othersReplacement(instance.id, latest.records, rentals.knows)
    const own = tries.findLast(one => one.cost === undefined)?.instance
    const mine = latest.records.find(record => record.id === own)
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
    const { choice, lastAt, replacements } = recoveryOf(instance.id) ?? recovery
    const written = document.record(all => ({
      ...changing(instance.id, { by, failover: undefined, replaced: dropped, held: undefined })(all),
      [by]: {
        ...(all[by] ?? freshRecovery(choice, now())),
        ...(lastAt === undefined ? {} : { lastAt }),
        replacements: replacements + 1,
        replaced: dropped + itself,
        of: instance.id,
      },
    }))
    context.changed()
    await written
    tell({ instance, kind: 'note', text: `Replaced by #${by}` })
  }

  return {
    async choose(instance, choice) {
      const { id } = instance
      if (!instance.interruptible) throw new BerthError(notInterruptible)
      if (choice.kind === 'replace')
        replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
      const { failover } = recoveryOf(id) ?? {}
      // Who wishes for a replacement after they have cancelled one wishes for another.
      if (failover !== undefined && failovers.find(failover)?.unwanted) await cancel(failover)
      const before = recoveryOf(id)
      const after = { ...(before ?? freshRecovery(choice, now())), choice }
      const { held: _, refused: __, ...kept } = after
      await document.write(all => ({ ...all, [id]: kept }))
      context.changed()
      const running = before?.failover
      if (running !== undefined && choice.kind !== 'replace') await cancel(running)
      void context.poll()
    },
    looked(answer) {
      latest = answer
      for (const [key, recovery] of Object.entries(document.get())) {
        const id = Number(key)
        const instance = answer.instances[key]
        if (!instance) {
          const absent = (missing.get(id) ?? 0) + 1
          missing.set(id, absent)
          if (absent >= looksUntilGone && !busy.has(id)) void forget(id, recovery)
          continue
        }
        missing.delete(id)
        if (!busy.has(id)) void pursue(instance, take(instance, recovery))
      }
    },
    dueAt() {
      const moments = Object.entries(document.get()).flatMap(([key, recovery]) => {
        const instance = latest.instances[key]
        const move = instance && recoveryMove(recovery, instance, now())
        return move?.do === 'wait' ? [move.until] : []
      })
      return moments.length === 0 ? undefined : Math.min(...moments)
    },
    view: () =>
      Object.fromEntries(
        Object.entries(document.get()).flatMap(([key, recovery]) => {
          const instance = latest.instances[key]
          return [[key, recoveryView(recovery, instance, now())]]
        }),
      ),
  }
}
