import { spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import {
  type Everything,
  everythingRefusal,
  formOf,
  type Need,
  refusalOf,
  type Spender,
  type SpenderForm,
  type SpenderView,
  spenderOf,
} from '#shared/spending/spender.ts'
import type { Activity } from '../activity.ts'
import type { Notifications } from '../alerts/notifications.ts'
import type { Endings } from '../endings/perform.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import type { CollectionContext } from '../storage/collection.ts'
import { isDeepEqual } from '../storage/store.ts'
import { capAlert, stoppedText } from './messages.ts'
import { dayOf, type LedgerEntry, openStoredEntries, type StoredLedger } from './record.ts'
import {
  type Bound,
  capReachedAt,
  neededToday,
  overCaps,
  settled,
  startNeed,
  useOf,
  useOfAll,
} from './step.ts'

interface LedgerContext extends CollectionContext {
  activity: Pick<Activity, 'add'>
  notifications: Pick<Notifications, 'tell'>
  endings: Pick<Endings, 'begin' | 'pending'>
  now(): number
}

/** What is known of the rental behind a mark: its instance, and whether it may still get one, or another. */
type AttemptOf = (mark: string) => { instance?: number | undefined; isOpen: boolean } | undefined

/** A machine to reserve, before it is asked for. Micro-dollars. */
export interface Reservation {
  mark: string
  by: Spender | undefined
  group?: string | undefined
  perHour: Micros | undefined
  most?: Micros | undefined
  seconds?: number | undefined
  /** `most` bounds all machines of the group together. */
  isShared?: boolean
}

/** A poll, as far as the ledger needs it. */
interface LedgerPoll {
  account: { instances: Readonly<Record<string, InstanceView>> }
  pollsMissing(instance: number): number
}

/** Seconds of the account's time after which the cost of a machine is written again. */
const writtenEvery = 300
/** Days whose sums are kept, the latest: a clock that leapt ahead may go back. */
const daysKept = 5

/**
 * Everything of one account that may cost money, with the name of who pays. A machine is reserved on disk before it is asked
 * for, costs what its instance does, and is released once it's certain that there is none.
 */
export class Ledger {
  readonly #context: LedgerContext
  readonly #stored: StoredLedger
  readonly #attemptOf: AttemptOf
  /** Reserved, and on the way to the disk: what is checked meanwhile counts them. */
  readonly #pending = new Map<string, LedgerEntry>()
  /** What polls showed last of the machines, and when: costs are written less often. */
  readonly #shown = new Map<number, { view: InstanceView; at: number }>()
  /** Instances whose end was seen, until no poll shows them. */
  readonly #ended = new Set<number>()

  static async open(context: LedgerContext, attemptOf: AttemptOf): Promise<Ledger> {
    return new Ledger(context, await openStoredEntries(context), attemptOf)
  }

  private constructor(context: LedgerContext, stored: StoredLedger, attemptOf: AttemptOf) {
    this.#context = context
    this.#stored = stored
    this.#attemptOf = attemptOf
  }

  /** What something may cost today, with its machines. */
  need(perHour?: Micros, bound: Bound = {}, machines = 1, price = perHour): Need {
    const today = neededToday(perHour ?? 0, bound, this.#now())
    return { perHour, machines, price, today }
  }

  /** Why a spender, or you, may not have that now; undefined if it may. */
  refusal(by: Spender | undefined, need: Need): Problem | undefined {
    return this.#ownRefusal(by, need) ?? this.#refusalOfAll(need)
  }

  /** The same by the caps of a spender alone. */
  #ownRefusal(by: Spender | undefined, need: Need): Problem | undefined {
    const form = this.#formOf(by)
    return form && refusalOf(form, this.#useOf(by), need)
  }

  /** The same by the caps over everything. */
  #refusalOfAll(need: Need): Problem | undefined {
    return this.#isCapped() ? everythingRefusal(this.#everything(), this.#useOfAll(), need) : undefined
  }

  /** Reserves a machine, on disk once it resolves; resolves with why not. A known mark is reserved already. */
  async reserve({ mark, perHour, ...asked }: Reservation): Promise<Problem | undefined> {
    const { by } = asked
    const entries = this.#entries()
    if (entries.some(({ id }) => id === mark)) return undefined
    const at = this.#now()
    const fresh = { at, spent: 0, day: dayOf(at), today: 0 }
    const entry: LedgerEntry = { id: mark, ...asked, perHour: perHour ?? 0, ...fresh }
    const today = this.#useOf(by, [...entries, entry]).today - this.#useOf(by).today
    const refused = this.refusal(by, { perHour, machines: 1, today })
    if (refused) return refused
    await this.#write(entry)
    return undefined
  }

  /**
   * Counts a payment on this day, on disk before it is asked for. Throws why it may not be made; what it gives takes it back.
   */
  async pay(by: Spender | undefined, amount: Micros): Promise<() => Promise<void>> {
    const refused = this.refusal(by, { perHour: 0, machines: 0, today: amount })
    if (refused) throw new BerthError(refused)
    const at = this.#now()
    const add = (more: Micros) => {
      const day = dayOf(at)
      const id = `${by ?? ''}/${day}`
      const today = Math.max(0, (this.#stored.find(id)?.today ?? 0) + more)
      return this.#write({ id, by, perHour: 0, at, spent: 0, day, today, isSum: true })
    }
    await add(amount)
    return () => add(-amount)
  }

  /** A machine appeared after its reservation had been released: it counts from its beginning. */
  found({ mark, perHour, ...asked }: Reservation, instance: number): void {
    if (this.#entries().some(({ id }) => id === mark)) return
    const at = this.#now()
    const fresh = { at, seen: 0, spent: 0, day: dayOf(at), today: 0 }
    void this.#stored.put({ id: mark, ...asked, instance, perHour: perHour ?? 0, ...fresh })
  }

  /** Whether it was rented by that spender, and not started by you since. */
  owns(by: Spender, instance: number): boolean {
    const entry = this.#entryOf(instance)
    return entry?.by === by && !entry.isBorrowed
  }

  /** Who pays for an instance; undefined: you. */
  payer(instance: number): Spender | undefined {
    return this.#entryOf(instance)?.by
  }

  /** All instances of spenders of a kind. */
  instancesOf(isWanted: (by: Spender) => boolean): number[] {
    this.#adopt()
    return this.#entries().flatMap(({ by, instance }) =>
      by !== undefined && instance !== undefined && isWanted(by) ? instance : [],
    )
  }

  /**
   * A spender starts an instance, and pays for it from now on: a script may start one of yours, which stays yours. Throws why
   * it may not. One that runs already stays with whoever pays.
   */
  async take(instance: number, by: Spender | undefined): Promise<void> {
    const before = this.#entryOf(instance)
    if (before?.by === by) return this.mayCost(instance)
    const view = this.#instances()[instance]
    if (by !== undefined && !(view && hasTrait(view.state, 'startable'))) return
    const at = this.#now()
    const price = view?.pricePerHour
    const refused =
      this.#ownRefusal(by, this.need(price)) ??
      this.#refusalOfAll(startNeed(before ?? { perHour: 0 }, view, at))
    if (refused) throw new BerthError(refused)
    const seen = view ? spentBy(view, at) : 0
    const day = dayOf(at)
    const fresh = { instance, perHour: price ?? 0, at, seenAt: at, seen, spent: 0, day, today: 0 }
    if (before) await this.#stored.put(...this.#sumsWith(before, settled(before, view, at)))
    const isBorrowed = by === undefined ? undefined : true
    await this.#write({ id: before?.id ?? `i${instance}`, by, isBorrowed, ...fresh })
  }

  /** Throws where a cap forbids to start an instance again, or to bid those dollars per hour for it. */
  mayCost(instance: number, bid?: number): void {
    const entry = this.#entryOf(instance)
    const view = this.#instances()[instance]
    const price = bid === undefined ? undefined : micros(bid) + (view?.diskPricePerHour ?? 0)
    const need = startNeed(entry ?? { perHour: 0 }, view, this.#now(), price)
    const refused = (entry && this.#startRefusal(entry, instance, need)) ?? this.#refusalOfAll(need)
    if (refused) throw new BerthError(refused)
  }

  #startRefusal(entry: LedgerEntry, instance: number, need: Need): Problem | undefined {
    const form = this.#formOf(entry.by)
    if (!entry.by || !form) return undefined
    const now = this.#now()
    // A stop at a cap is on its way, which the start would take back.
    const isOver = overCaps(this.#entries(), form, entry.by, this.#instances(), now).some(
      one => one.instance === instance,
    )
    return this.#ownRefusal(entry.by, isOver ? { ...need, today: micros(form.perDay) } : need)
  }

  onPoll({ account: { instances }, pollsMissing }: LedgerPoll): void {
    this.#adopt()
    for (const instance of this.#ended) if (!instances[instance]) this.#ended.delete(instance)
    const at = this.#now()
    const day = dayOf(at)
    const all = this.#stored.all()
    const kept = new Set([...new Set(all.map(one => one.day))].sort().slice(-daysKept))
    for (const entry of all) {
      const { id, instance, isSum, seenAt = entry.at } = entry
      if (isSum) {
        if (entry.day < day && !kept.has(entry.day)) void this.#stored.forget(id)
        continue
      }
      const view = instances[instance ?? '']
      if (view) this.#shown.set(view.id, { view, at })
      if (instance === undefined) {
        if (!this.#attemptOf(id)?.isOpen && !this.#pending.has(id)) void this.#stored.forget(id)
      } else if (!view && pollsMissing(instance) >= pollsUntilGone) {
        // Its rental may still find that another one is its own.
        if (!this.#attemptOf(id)?.isOpen) this.#close(entry)
      } else if (view && (entry.day !== day || seenAt > at || at - seenAt > writtenEvery)) {
        const after = settled(entry, view, at)
        this.#stored.putSoon(...(entry.day === day ? [] : this.#sumsWith(entry)), after)
      }
    }
    this.#holdCaps(instances, at)
    this.show()
  }

  /** When a day's cap is reached. */
  dueAt(after: number): number {
    const now = this.#now()
    const moments = this.#capped().map(({ form, by }) =>
      capReachedAt(this.#entries(), form, by, this.#instances(), now),
    )
    return Math.min(...moments.filter(moment => moment > after), Number.POSITIVE_INFINITY)
  }

  /** Shows what spenders with a form have used, and everything together. */
  show(): void {
    const { account, store, quitting } = this.#context
    if (quitting.aborted) return
    const spenders: Record<Spender, SpenderView> = {}
    for (const { by } of this.#capped()) {
      const { today, reserved, perHour, machines } = this.#useOf(by)
      const instances = this.instancesOf(one => one === by)
      spenders[by] = { today: inCents(today), reserved: inCents(reserved), perHour, machines, instances }
    }
    const everything = this.#isCapped() ? this.#useOfAll() : undefined
    const { spenders: before = {}, everything: allBefore } = store.get().accounts[account] ?? {}
    if (isDeepEqual(before, spenders) && isDeepEqual(allBefore, everything)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) Object.assign(target, { spenders, everything })
    })
  }

  flush(): Promise<void> {
    return this.#stored.flush()
  }

  /** A write before something that costs money: a capped spender gets nothing that isn't on disk. */
  async #write(entry: LedgerEntry): Promise<void> {
    this.#pending.set(entry.id, entry)
    try {
      if (this.#formOf(entry.by) || this.#isCapped()) await this.#stored.add(entry)
      else await this.#stored.put(entry)
    } finally {
      this.#pending.delete(entry.id)
    }
  }

  /** Gives entries the instances of their rentals; one that the service had named wrongly is let go. */
  #adopt(): void {
    const found = this.#stored.all().flatMap(entry => {
      const attempt = entry.isSum ? undefined : this.#attemptOf(entry.id)
      if (!attempt || attempt.instance === entry.instance) return []
      const { instance, isOpen } = attempt
      return instance === undefined && !isOpen ? [] : [{ ...entry, instance, seen: undefined }]
    })
    if (found.length > 0) void this.#stored.put(...found)
  }

  /** An instance's end was seen: nothing is reserved for it any more. */
  ended(instance: number): void {
    this.#ended.add(instance)
    const entry = this.#entryOf(instance)
    if (entry) this.#close(entry)
    this.show()
  }

  /** Its instance is gone: its cost of today stays. */
  #close(entry: LedgerEntry): void {
    const { view, at = this.#now() } = this.#shown.get(entry.instance ?? Number.NaN) ?? {}
    if (view) this.#shown.delete(view.id)
    const sums = this.#sumsWith(entry, settled(entry, view, at))
    if (sums.length > 0) void this.#stored.put(...sums, { ...entry, today: 0, spent: 0 })
    void this.#stored.forget(entry.id)
  }

  /** The days' sums of a spender, with what an entry was on its day, and is on another one. */
  #sumsWith(before: LedgerEntry, after = before): LedgerEntry[] {
    const parts = before.day === after.day ? [after] : [before, after]
    return parts.flatMap(({ by, day, today, at }) => {
      if (today === 0) return []
      const id = `${by ?? ''}/${day}`
      const counted = this.#stored.find(id)?.today ?? 0
      return { id, by, perHour: 0, at, spent: 0, day, today: counted + today, isSum: true as const }
    })
  }

  #holdCaps(instances: LedgerPoll['account']['instances'], at: number): void {
    const { account, endings, notifications } = this.#context
    for (const { form, by } of this.#capped()) {
      const stopped = overCaps(this.#entries(), form, by, instances, at).flatMap(over => {
        const instance = instances[over.instance]
        return !instance || endings.pending(over.instance) ? [] : { instance, over }
      })
      for (const { instance, over } of stopped)
        void endings.begin(instance.id, 'stop', {
          kind: 'berth',
          text: stoppedText(instance, form, over),
          keepsFiles: true,
        })
      if (stopped.length > 0) notifications.tell(account, [capAlert(account, form, stopped)])
    }
  }

  #capped(): { form: SpenderForm; by: Spender }[] {
    const { spenders } = this.#context.store.get().settings
    return spenders.map(form => ({ form, by: spenderOf(form.kind, form.name) }))
  }

  #now(): number {
    return this.#context.now()
  }

  #entries(): LedgerEntry[] {
    const stored = this.#stored.all().filter(({ id }) => !this.#pending.has(id))
    return [...stored, ...this.#pending.values()]
  }

  #entryOf(instance: number): LedgerEntry | undefined {
    const find = () => this.#entries().find(entry => entry.instance === instance)
    const found = find()
    if (found) return found
    this.#adopt()
    return find()
  }

  #useOf(by: Spender | undefined, entries = this.#entries()) {
    return useOf(entries, by, this.#instances(), this.#now())
  }

  #formOf(by: Spender | undefined): SpenderForm | undefined {
    return formOf(this.#context.store.get().settings.spenders, by)
  }

  #useOfAll() {
    this.#adopt()
    return useOfAll(this.#entries(), this.#instances(), this.#ended, this.#now())
  }

  #everything(): Everything {
    return this.#context.store.get().settings.everything
  }

  #isCapped(): boolean {
    const { perHour, machines } = this.#everything()
    return perHour !== null || machines !== null
  }

  #instances(): LedgerPoll['account']['instances'] {
    const { account, store } = this.#context
    return store.get().accounts[account]?.instances ?? {}
  }
}

/** So that the page isn't redrawn with each poll. */
function inCents(amount: Micros): Micros {
  return Math.ceil(amount / 10_000) * 10_000
}
