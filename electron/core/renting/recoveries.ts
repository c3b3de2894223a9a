import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { alertOf } from '#core/alerts/events.ts'
import { problemOf } from '#core/bridge/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-instances.ts'
import { blockingAccountLimit } from '#core/limits/may-start.ts'
import { type Collection, openCollection } from '#core/storage/collection.ts'
import type { Instance } from '#service/instances.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Starting } from '#shared/automation/limits-that-block.ts'
import type { RecoveryChoice } from '#shared/automation/recovery.ts'
import { spentBy } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { instanceName, shortInstanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import { lackedBy } from '../bridge/problems.ts'
import { isDeepEqual } from '../storage/store.ts'
import { nothingAsGoodCode } from './messages.ts'
import {
  freshRecovery,
  isNeedless,
  notInterruptible,
  observedRecovery,
  othersReplacement,
  Recovery,
  recoveryMove,
  recoveryView,
  refusedFor,
} from './recovery.ts'
import { openAttempt, spentOn } from './rental.ts'
import type { Rentals } from './rentals.ts'
import { replacementFor } from './requests.ts'

/** The recoveries of one account: Berth's actions for outbid interruptible instances, as chosen for each. */
export async function openRecoveries(context: AccountContext, rentals: RecoveryParts['rentals']) {
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
  const parts: RecoveryParts = { context, recoveries, rentals, records: () => records }

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
      if (ending.aborted || !before || before.hindrance?.code === why.code) return
      await recoveries.update(id, { hindrance: why })
      notifyOfRecovery(context, instance, 'Not recovered', why)
    } finally {
      busy.delete(id)
    }
  }

  /** The instance is gone. Its replacement in progress is cancelled, since nobody would follow it. */
  async function forget({ instance: id, rental }: Recovery): Promise<void> {
    busy.add(id)
    try {
      if (rental !== undefined) await cancelReplacement(rentals, rental).catch(() => undefined)
      await recoveries.forget(id)
    } finally {
      busy.delete(id)
    }
  }

  return {
    /** Throws `not_interruptible`, or why a replacement could not be rented as the instance was. */
    async choose(instance: InstanceView, choice: RecoveryChoice): Promise<void> {
      const { id } = instance
      if (!instance.interruptible) throw new BerthError(notInterruptible)
      if (choice.kind === 'replace')
        replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
      const { rental } = find(id) ?? {}
      // Choosing a replacement again after cancelling one asks for another.
      if (rental !== undefined && rentals.find(rental)?.unwanted) await cancelReplacement(rentals, rental)
      const before = find(id)
      const after = { ...(before ?? freshRecovery(id, choice, now())), choice }
      const { hindrance: _, refused: __, ...kept } = after
      await recoveries.add(kept)
      const running = before?.rental
      if (running !== undefined && choice.kind !== 'replace') await cancelReplacement(rentals, running)
      void context.poll()
    },
    onPoll(poll: AccountPoll): void {
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
    dueAt(after: number): number {
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
      return context.endings.begin(instance.id, 'stop', {
        kind: 'berth',
        text: noteOn(instance, 'Stopped: another instance replaced it'),
      })
  }
}

/** Throws if a limit would stop the instance at the next poll. */
function refuseWhereLimited({ account, store, now }: AccountContext, starting: Starting): void {
  const why = blockingAccountLimit(store.get().accounts[account], starting, now())
  if (why) throw new BerthError(why)
}

/** Dependencies of recoveries. */
interface RecoveryParts {
  context: AccountContext
  recoveries: Collection<Recovery, number>
  rentals: Pick<Rentals, 'ofInstance' | 'knows' | 'start' | 'cancel' | 'find' | 'flush'>
  /** All instances of the last poll, as the service sent them. */
  records(): readonly Instance[]
}

/** Sends a bid per hour. Throws the service's refusal; after a lost answer the next poll decides. */
async function raiseBid(
  { context, recoveries }: Pick<RecoveryParts, 'context' | 'recoveries'>,
  instance: InstanceView,
  recovery: Recovery,
  bid: Micros,
): Promise<void> {
  const { client, ending, now } = context
  const { id } = instance
  const from = recovery.pendingBid?.from ?? instance.bid ?? 0
  const at = now()
  // Retries are reported once, not every time.
  const hindrance = recovery.refused && recovery.hindrance
  await recoveries.intend(id, { pendingBid: { bid, from, at }, lastAt: at, hindrance })
  try {
    await client().instances.changeBid(id, bid / 1_000_000, { signal: ending })
    // An instance that is meant to be stopped does not start by a bid alone.
    if (instance.intendedStatus !== 'running')
      await context.endings.startInstead(id, () => client().instances.start(id, { signal: ending }))
  } catch (error) {
    if (ending.aborted || (error instanceof ServiceError && error.ambiguous)) return
    const wait = refusedFor(error)
    const refused = wait === undefined ? {} : { lastAt: recovery.lastAt, refused: { at: now(), wait } }
    await recoveries.update(id, { pendingBid: undefined, ...refused })
    throw error
  }
  const after = recoveries.find(id)
  if (ending.aborted || !after) return
  takeOver({ context, recoveries }, { ...instance, bid }, after)
  void context.poll()
}

/** Updates the recovery from its instance, and alerts on a confirmed raise. */
function takeOver(
  { context, recoveries }: Pick<RecoveryParts, 'context' | 'recoveries'>,
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

/** Starts the rental of a replacement. Throws why none can be rented. */
async function rentReplacement(
  parts: RecoveryParts,
  instance: InstanceView,
  { choice, rental, hindrance }: Recovery,
): Promise<void> {
  const { context, recoveries, rentals } = parts
  const { id } = instance
  if (choice.kind !== 'replace') return
  const other = othersReplacement(id, parts.records(), rentals.knows)
  if (other) return leaveTo(parts, instance, other)
  const request = replacementFor(instance, rentals.ofInstance(id), context.record(id), choice)
  const chosen = rental ?? `r${context.newId()}`
  // The market is searched repeatedly; that it has nothing is reported once.
  const still = hindrance?.code === nothingAsGoodCode ? hindrance : undefined
  await recoveries.intend(id, { rental: chosen, lastAt: context.now(), hindrance: still })
  // The user may change the choice at any moment.
  if (recoveries.find(id)?.choice.kind !== 'replace') return
  await rentals.start(request, chosen)
  if (recoveries.find(id)?.choice.kind !== 'replace') await cancelReplacement(rentals, chosen)
}

/** Cancels the rental of a replacement, unless it has ended otherwise. */
async function cancelReplacement(rentals: RecoveryParts['rentals'], id: string): Promise<void> {
  const step = rentals.find(id)?.step
  if (step === 'trying' || step === 'cancelled') await rentals.cancel(id, true)
}

/** Handles the progress of the replacement's rental. Throws why it has failed. */
async function followReplacement(
  parts: RecoveryParts,
  instance: InstanceView,
  recovery: Recovery,
): Promise<void> {
  const { recoveries, rentals } = parts
  const { id } = instance
  const rental = recovery.rental === undefined ? undefined : rentals.find(recovery.rental)
  // Berth ended before the rental was stored, or the choice has changed since.
  if (!rental && (recovery.choice.kind !== 'replace' || instance.state !== 'outbid'))
    return void (await recoveries.update(id, { rental: undefined }))
  if (!rental) return rentReplacement(parts, instance, recovery)
  const other = othersReplacement(id, parts.records(), rentals.knows)
  const replacedCost = recovery.replacedCost + spentOn(rental)
  switch (rental.step) {
    case 'trying': {
      const own = openAttempt(rental)?.instance
      const mine = parts.records().find(record => record.id === own)
      if (!rental.unwanted && isNeedless(recovery, instance, mine, other))
        await rentals.cancel(rental.id, true)
      return
    }
    case 'ready':
      return handOver(parts, instance, recovery, rental.instance, replacedCost)
    case 'failed':
      await recoveries.update(id, { rental: undefined, replacedCost })
      if (rental.problem && instance.state === 'outbid') throw new BerthError(rental.problem)
      return
    case 'cancelled': {
      // If the user cancels a replacement, the recovery is off.
      const isOff = !other && !rental.needless && recovery.choice.kind === 'replace'
      const choice: RecoveryChoice = isOff ? { kind: 'tell' } : recovery.choice
      // An earlier failure no longer matters.
      const hindrance = isOff ? undefined : recovery.hindrance
      await recoveries.update(id, { rental: undefined, replacedCost, choice, hindrance })
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
    rental: undefined,
    hindrance: undefined,
    lastAt: context.now(),
  })
  const text = `Another Berth already replaced it with #${by}`
  noteOfRecovery(context, instance, text)
}

/** The replacement takes over, with the recovery's choice unless the user made one for it. */
async function handOver(
  { context, recoveries, rentals }: RecoveryParts,
  instance: InstanceView,
  recovery: Recovery,
  by: number | undefined,
  dropped: number,
): Promise<void> {
  if (by === undefined) return
  const itself = recovery.of === undefined ? 0 : spentBy(instance, context.now())
  // Otherwise, after a kill, the rental would continue and drop the instance that took over.
  await rentals.flush()
  const replaced = recoveries.find(instance.id)
  const { choice, lastAt, replacements } = replaced ?? recovery
  const changes = { by, rental: undefined, replacedCost: dropped, hindrance: undefined }
  await recoveries.put(...(replaced ? [{ ...replaced, ...changes } as Recovery] : []), {
    ...(recoveries.find(by) ?? freshRecovery(by, choice, context.now())),
    ...(lastAt === undefined ? {} : { lastAt }),
    replacements: replacements + 1,
    replacedCost: dropped + itself,
    of: instance.id,
  })
  noteOfRecovery(context, instance, `Replaced by #${by}`)
}

/** Writes a step of a recovery into Activity. */
function noteOfRecovery(
  { account, activity }: Pick<AccountContext, 'account' | 'activity' | 'notifications'>,
  instance: InstanceView,
  text: string,
): void {
  activity.add({ account, instance: instance.id, kind: 'berth', text: noteOn(instance, text) })
}

function noteOn(instance: InstanceView, text: string): string {
  return `${text}: ${instanceName(instance)}`
}

/** Alerts about a recovery's action or, with a problem, why it does nothing. */
function notifyOfRecovery(
  { account, notifications }: Pick<AccountContext, 'account' | 'activity' | 'notifications'>,
  instance: InstanceView,
  text: string,
  problem?: Problem,
): void {
  const { id } = instance
  const { message, advice } = problem ?? { message: 'It starts again automatically.' }
  notifications.tell(account, [
    alertOf(problem ? 'notRecovered' : 'recovered', {
      id: `${account}/recovery/${id}`,
      instance: id,
      title: `${shortInstanceName(instance)}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
      body: advice === undefined ? message : `${message} ${advice}`,
    }),
  ])
}
