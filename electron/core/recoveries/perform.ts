import type { Instance } from '#service/instances.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Starting } from '#shared/automation/limits-that-block.ts'
import type { RecoveryChoice } from '#shared/automation/recovery.ts'
import { spentBy } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { lackedBy, problemOf } from '../bridge/problems.ts'
import { type FailedTurn, type Next, Worker } from '../engine/worker.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { blockingAccountLimit } from '../limits/may-start.ts'
import { nothingAsGoodCode } from '../renting/messages.ts'
import { isRetrying, openAttempt, spentOn } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import { replacementFor } from '../renting/replacement.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { isDeepEqual } from '../storage/store.ts'
import { notInterruptible, recoveryAlert, stepOn } from './messages.ts'
import { freshRecovery, Recovery } from './record.ts'
import {
  isNeedless,
  observedRecovery,
  othersReplacement,
  recoveryMove,
  recoveryView,
  refusedFor,
} from './step.ts'

/** What recoveries need of rentals. */
export type RecoveryRentals = Pick<Rentals, 'ofInstance' | 'knows' | 'start' | 'cancel' | 'find' | 'flush'>

/** What the last poll has shown. */
type Seen = Pick<AccountPoll, 'records'> & { instances: AccountPoll['account']['instances'] }

/** The recoveries of one account: Berth's actions for outbid interruptible instances, as chosen for each. */
export class Recoveries {
  readonly #context: AccountContext
  readonly #rentals: RecoveryRentals
  readonly #stored: Collection<Recovery, number>
  readonly #worker: Worker<number>
  readonly #seen: Seen
  /** Instances that certainly no longer exist. */
  readonly #gone = new Set<number>()

  static async open(context: AccountContext, rentals: RecoveryRentals): Promise<Recoveries> {
    const seen: Seen = { instances: {}, records: [] }
    const stored = await openCollection(context, {
      name: 'recoveries',
      schema: Recovery,
      key: ({ instance }) => instance,
      view: all => ({
        recoveries: Object.fromEntries(
          all.map(recovery => [
            recovery.instance,
            recoveryView(recovery, seen.instances[recovery.instance], context.now()),
          ]),
        ),
      }),
    })
    return new Recoveries(context, rentals, stored, seen)
  }

  constructor(
    context: AccountContext,
    rentals: RecoveryRentals,
    stored: Collection<Recovery, number>,
    seen: Seen,
  ) {
    this.#context = context
    this.#rentals = rentals
    this.#stored = stored
    this.#seen = seen
    this.#worker = new Worker({
      clock: context.platform.clock,
      quitting: context.quitting,
      turn: instance => this.#turn(instance),
      hindered: (instance, failure) => this.#hindered(instance, failure),
    })
  }

  /** Throws `not_interruptible`, or why a replacement could not be rented as the instance was. */
  async choose(instance: InstanceView, choice: RecoveryChoice): Promise<void> {
    const { id } = instance
    if (!instance.interruptible) throw new BerthError(notInterruptible)
    if (choice.kind === 'replace')
      replacementFor(instance, this.#rentals.ofInstance(id), this.#context.record(id), choice)
    const { rental } = this.#stored.find(id) ?? {}
    // Choosing a replacement again after cancelling one asks for another.
    if (rental !== undefined && this.#rentals.find(rental)?.unwanted) await this.#cancelReplacement(rental)
    const before = this.#stored.find(id)
    const after = { ...(before ?? freshRecovery(id, choice, this.#context.now())), choice }
    const { hindrance: _, refused: __, ...kept } = after
    await this.#stored.add(kept)
    const running = before?.rental
    if (running !== undefined && choice.kind !== 'replace') await this.#cancelReplacement(running)
    void this.#context.poll()
  }

  /** Sets the choice that was made with an instance's rental, once. */
  async recoverRental(instance: number, choice: RecoveryChoice): Promise<void> {
    // After a kill it may be set already.
    if (!this.#stored.find(instance))
      await this.#stored.add(freshRecovery(instance, choice, this.#context.now()))
  }

  onPoll({ account, records, pollsMissing }: AccountPoll): void {
    this.#seen.instances = account.instances
    this.#seen.records = records
    for (const { instance } of this.#stored.all()) {
      if (account.instances[instance]) this.#gone.delete(instance)
      else if (pollsMissing(instance) >= pollsUntilGone) this.#gone.add(instance)
      else continue
      this.#worker.wake(instance)
    }
    this.#stored.show()
  }

  show(): void {
    this.#stored.show()
  }

  dueAt(after: number): number {
    const moments = this.#stored.all().flatMap(recovery => {
      const instance = this.#seen.instances[recovery.instance]
      const move = instance && recoveryMove(recovery, instance, this.#context.now())
      return move?.do === 'wait' && move.until > after ? [move.until] : []
    })
    return Math.min(...moments)
  }

  flush(): Promise<void> {
    return this.#stored.flush()
  }

  async #turn(id: number): Promise<Next> {
    const recovery = this.#stored.find(id)
    const instance = this.#seen.instances[id]
    // A rental with retries drops what is outbid, and tries the next offer itself.
    if (this.#isAttempted(id)) return 'rest'
    if (recovery && instance) await this.#perform(instance, this.#takeOver(instance, recovery))
    else if (recovery && this.#gone.has(id)) await this.#forget(recovery)
    return 'rest'
  }

  #isAttempted(id: number): boolean {
    const rental = this.#rentals.ofInstance(id)?.rental
    return rental !== undefined && isRetrying(rental) && rental.step === 'trying'
  }

  /** All actions are stored, so the next poll continues from there. */
  async #hindered(id: number, { error }: FailedTurn): Promise<Next> {
    const why = lackedBy(error, 'instance_write') ?? problemOf(error)
    const before = this.#stored.find(id)
    const instance = this.#seen.instances[id]
    if (!before || !instance || before.hindrance?.code === why.code) return 'rest'
    await this.#stored.update(id, { hindrance: why })
    this.#tell(instance, 'Not recovered', why)
    return 'rest'
  }

  /** The instance is gone. Its replacement in progress is cancelled, since nobody would follow it. */
  async #forget({ instance, rental }: Recovery): Promise<void> {
    if (rental !== undefined) await this.#cancelReplacement(rental).catch(() => undefined)
    await this.#stored.forget(instance)
    this.#gone.delete(instance)
  }

  /** Performs the next move. Throws the reason where it cannot. */
  async #perform(instance: InstanceView, recovery: Recovery): Promise<void> {
    const move = recoveryMove(recovery, instance, this.#context.now())
    switch (move.do) {
      case 'raise':
        this.#refuseWhereLimited({ instance: instance.id, more: move.bid })
        return this.#raiseBid(instance, recovery, move.bid)
      case 'rent':
        this.#refuseWhereLimited({ more: instance.minimumBid ?? 0 })
        return this.#rentReplacement(instance, recovery)
      case 'follow':
        return this.#followReplacement(instance, recovery)
      case 'hold':
        throw new BerthError(move.why)
      case 'stop':
        return this.#context.endings.begin(instance.id, 'stop', {
          kind: 'berth',
          text: stepOn(instance, 'Stopped: another instance replaced it'),
        })
    }
  }

  /** Throws if a limit would stop the instance at the next poll. */
  #refuseWhereLimited(starting: Starting): void {
    const { account, store, now } = this.#context
    const why = blockingAccountLimit(store.get().accounts[account], starting, now())
    if (why) throw new BerthError(why)
  }

  /** Sends a bid per hour. Throws the service's refusal; otherwise the next poll decides. */
  async #raiseBid(instance: InstanceView, recovery: Recovery, bid: Micros): Promise<void> {
    const { client, quitting, endings, now } = this.#context
    const { id } = instance
    const { pendingBid } = recovery
    const from = pendingBid?.from ?? instance.bid ?? 0
    const at = now()
    const since = pendingBid?.bid === bid ? pendingBid.at : at
    // Retries are reported once, not every time.
    const hindrance = recovery.refused && recovery.hindrance
    await this.#stored.intend(id, { pendingBid: { bid, from, at: since }, lastAt: at, hindrance })
    try {
      await client().instances.changeBid(id, bid / 1_000_000, { signal: quitting })
      // An instance that is meant to be stopped does not start by a bid alone.
      if (instance.intendedStatus !== 'running')
        await endings.startInstead(id, () => client().instances.start(id, { signal: quitting }))
    } catch (error) {
      if (quitting.aborted || (error instanceof ServiceError && error.ambiguous)) return
      const wait = refusedFor(error)
      const refused = wait === undefined ? {} : { lastAt: recovery.lastAt, refused: { at: now(), wait } }
      await this.#stored.update(id, { pendingBid: undefined, ...refused })
      throw error
    }
    // It counts once a poll shows it.
    if (!quitting.aborted) void this.#context.poll()
  }

  /** Updates the recovery from its instance, and alerts on a confirmed raise. */
  #takeOver(instance: InstanceView, recovery: Recovery): Recovery {
    const after = observedRecovery(recovery, instance, this.#context.now())
    if (isDeepEqual(recovery, after)) return recovery
    void this.#stored.update(instance.id, () => after)
    if (after.raises > recovery.raises) this.#tell(instance, `Raised the bid to ${rate(after.own ?? 0)}`)
    return after
  }

  /** Starts the rental of a replacement. Throws why none can be rented. */
  async #rentReplacement(instance: InstanceView, { choice, rental, hindrance }: Recovery): Promise<void> {
    const { record, newId, now } = this.#context
    const { id } = instance
    if (choice.kind !== 'replace') return
    const other = this.#othersReplacement(id)
    if (other) return this.#leaveTo(instance, other)
    const request = replacementFor(instance, this.#rentals.ofInstance(id), record(id), choice)
    const chosen = rental ?? `r${newId()}`
    // The market is searched repeatedly; that it has nothing is reported once.
    const still = hindrance?.code === nothingAsGoodCode ? hindrance : undefined
    await this.#stored.intend(id, { rental: chosen, lastAt: now(), hindrance: still })
    // The user may change the choice at any moment.
    if (this.#stored.find(id)?.choice.kind !== 'replace') return
    await this.#rentals.start({ ...request, by: this.#rentals.ofInstance(id)?.rental.by }, chosen)
    if (this.#stored.find(id)?.choice.kind !== 'replace') await this.#cancelReplacement(chosen)
  }

  /** Cancels the rental of a replacement, unless it has ended otherwise. */
  async #cancelReplacement(id: string): Promise<void> {
    const step = this.#rentals.find(id)?.step
    if (step === 'trying' || step === 'cancelled') await this.#rentals.cancel(id, true)
  }

  #othersReplacement(instance: number): Instance | undefined {
    return othersReplacement(instance, this.#seen.records, mark => this.#rentals.knows(mark))
  }

  /** Handles the progress of the replacement's rental. Throws why it has failed. */
  async #followReplacement(instance: InstanceView, recovery: Recovery): Promise<void> {
    const { id } = instance
    const rental = recovery.rental === undefined ? undefined : this.#rentals.find(recovery.rental)
    // Berth ended before the rental was stored, or the choice has changed since.
    if (!rental && (recovery.choice.kind !== 'replace' || instance.state !== 'outbid'))
      return void (await this.#stored.update(id, { rental: undefined }))
    if (!rental) return this.#rentReplacement(instance, recovery)
    const other = this.#othersReplacement(id)
    const replacedCost = recovery.replacedCost + spentOn(rental)
    switch (rental.step) {
      case 'trying': {
        const own = openAttempt(rental)?.instance
        const mine = this.#seen.records.find(record => record.id === own)
        if (!rental.unwanted && isNeedless(recovery, instance, mine, other))
          await this.#rentals.cancel(rental.id, true)
        return
      }
      case 'ready':
        return this.#handOver(instance, recovery, rental.instance, replacedCost)
      case 'failed':
        await this.#stored.update(id, { rental: undefined, replacedCost })
        if (rental.problem && instance.state === 'outbid') throw new BerthError(rental.problem)
        return
      case 'cancelled': {
        // If the user cancels a replacement, the recovery is off.
        const isOff = !other && !rental.needless && recovery.choice.kind === 'replace'
        const choice: RecoveryChoice = isOff ? { kind: 'tell' } : recovery.choice
        // An earlier failure no longer matters.
        const hindrance = isOff ? undefined : recovery.hindrance
        await this.#stored.update(id, { rental: undefined, replacedCost, choice, hindrance })
        if (other) await this.#leaveTo(instance, other)
      }
    }
  }

  async #leaveTo(instance: InstanceView, { id: by }: Instance): Promise<void> {
    await this.#stored.update(instance.id, {
      by,
      rental: undefined,
      hindrance: undefined,
      lastAt: this.#context.now(),
    })
    this.#note(instance, `Another Berth already replaced it with #${by}`)
  }

  /** The replacement takes over, with the recovery's choice unless the user made one for it. */
  async #handOver(
    instance: InstanceView,
    recovery: Recovery,
    by: number | undefined,
    dropped: number,
  ): Promise<void> {
    if (by === undefined) return
    const now = this.#context.now()
    const itself = recovery.of === undefined ? 0 : spentBy(instance, now)
    // Otherwise, after a kill, the rental would continue and drop the instance that took over.
    await this.#rentals.flush()
    const replaced = this.#stored.find(instance.id)
    const { choice, lastAt, replacements } = replaced ?? recovery
    const changes = { by, rental: undefined, replacedCost: dropped, hindrance: undefined }
    await this.#stored.put(...(replaced ? [{ ...replaced, ...changes } as Recovery] : []), {
      ...(this.#stored.find(by) ?? freshRecovery(by, choice, this.#context.now())),
      ...(lastAt === undefined ? {} : { lastAt }),
      replacements: replacements + 1,
      replacedCost: dropped + itself,
      of: instance.id,
    })
    this.#note(instance, `Replaced by #${by}`)
  }

  /** Writes a step into Activity. */
  #note(instance: InstanceView, text: string): void {
    const { account, activity } = this.#context
    activity.add({ account, instance: instance.id, kind: 'berth', text: stepOn(instance, text) })
  }

  #tell(instance: InstanceView, text: string, problem?: Problem): void {
    const { account, notifications } = this.#context
    notifications.tell(account, [recoveryAlert(account, instance, text, problem)])
  }
}
