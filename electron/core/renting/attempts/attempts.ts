import type { FailoverView } from '../../../contract/automation/failover.ts'
import type { AccountId } from '../../../contract/ids.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import type { Keychain } from '../../../ports/keychain.ts'
import type { ServiceClient } from '../../../service/client.ts'
import type { Document } from '../../storage/json-file.ts'
import type { Rentals } from '../rentals/rentals.ts'
import { rentalSecrets, withoutSecrets } from '../rentals/secrets.ts'
import { createTrials } from './attempt-worker.ts'
import { openFailoverBook } from './attempts-book.ts'
import { type Failover, openTry } from './attempts-model.ts'
import { failoverViews } from './attempts-view.ts'
import type { FailedHosts } from './failed-hosts.ts'
import { type Move, nextMove, type Stopper } from './next-move.ts'

/** What a failover is asked for. */
export type FailoverWish = Pick<Failover, 'search' | 'request' | 'limits' | 'replaces'>

/** What the failovers of one account need of their surroundings. */
export interface FailoversContext {
  account: AccountId
  document: Document<Failover[]>
  hosts: FailedHosts
  rentals: Rentals
  keychain: Keychain
  /** Throws `key_missing` while there is no key. */
  client(): ServiceClient
  /** Resolves once SSH answers there, rejects where it does not. */
  knock(instance: InstanceView): Promise<void>
  /** Why a guard keeps something at so many micro-dollars per hour more from being rented now. */
  heldBack(more: Micros): Problem | undefined
  /** The guard that has stopped an instance, or stops it at the next look. */
  stopperOf(instance: number): Stopper | undefined
  /** Aborted when Berth ends: from then on nothing is asked and nothing written. */
  ending: AbortSignal
  /** The account's time, epoch seconds. */
  now(): number
  /** Sixteen hexadecimal digits that were never used before. */
  newId(): string
  /** The failovers have changed. */
  changed(): void
  /** Looks at the account at once. */
  poll(): Promise<void>
  tell(event: FailoverEvent): void
}

/** What is told of a failover as it happens. */
export interface FailoverEvent {
  failover: Failover
  text: string
  detail?: string
  problem?: Problem
  instance?: number
  /** The user asked for it. */
  asked?: boolean
  /** It ended so: what the user is to hear about. */
  end?: 'ready' | 'failed'
}

/** What a fresh answer showed of the instances. */
export type Instances = Readonly<Record<string, InstanceView>>

/**
 * The failovers of one account. Each tries one machine after another until one can be entered. A try is a rental, with
 * all that makes a rental happen exactly once; the failover decides what becomes of it, and has that on disk before it
 * acts. It decides on fresh answers alone.
 */
export interface Failovers {
  /**
   * Resolves with its id once it is on disk; it goes on by itself. An `id` that is known already begins nothing. `asked`:
   * by the user, rather than by what brings its own id.
   */
  start(wish: FailoverWish, id?: string, asked?: boolean): Promise<string>
  /**
   * Ends it at whatever step; what it has created is destroyed. `needless`: not the user does so, but what had begun it,
   * were it after the user. Throws `too_late` once it has ended otherwise.
   */
  cancel(id: string, needless?: boolean): Promise<void>
  dismiss(id: string): Promise<void>
  find(id: string): Failover | undefined
  /** Resolves once what has become of them is on disk, where that is possible. */
  written(): Promise<void>
  looked(instances: Instances, unconfirmed?: ReadonlySet<number>): void
  /** When a fresh answer is wanted: a deadline, or the moment at which the tries have cost what they may. */
  dueAt(): number | undefined
  /** Whether any is still to be done. */
  underWay(): boolean
  view(): Record<string, FailoverView>
}

export function createFailovers(context: FailoversContext): Failovers {
  const { rentals, ending, now } = context
  const secrets = rentalSecrets(context.keychain)
  const book = openFailoverBook(context.document, context.changed)
  const { find, existing, update } = book
  const trials = createTrials(context, book, secrets)
  /** Failovers this process is working on, so that no two loops do. */
  const busy = new Set<string>()
  let instances: Instances = {}
  const due = new Map<string, number>()

  /** Goes on until there is something to wait for; what is waited for shows at a fresh look. */
  async function pursue(id: string): Promise<void> {
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      for (;;) {
        const failover = await trials.follow(existing(id), instances)
        if (failover.step !== 'trying' || ending.aborted) break
        const move = nextMove(failover, trials.sightOf(failover, instances))
        if (move.do === 'wait') {
          if (move.until === undefined) due.delete(id)
          else due.set(id, move.until)
          break
        }
        due.delete(id)
        if (!(await perform(failover, move))) break
      }
    } finally {
      busy.delete(id)
    }
  }

  /** Whether there is more to do at once. */
  async function perform(failover: Failover, move: Exclude<Move, { do: 'wait' }>): Promise<boolean> {
    switch (move.do) {
      case 'search':
        return trials.rentNext(failover)
      case 'knock':
        trials.knock(failover, instances, () => void pursue(failover.id))
        return false
      case 'drop':
        await trials.drop(failover, { ...move.drop, at: now() })
        return true
      case 'take back': {
        const current = openTry(failover)
        if (current) await rentals.discard(current.rental)
        return false
      }
      case 'settle':
        return trials.settle(failover)
      case 'end':
        await trials.end(failover, move)
        return false
    }
  }

  return {
    async start(wish, given, asked = given === undefined) {
      const id = given ?? `f${context.newId()}`
      if (find(id)) return id
      await secrets.keep(id, wish.request)
      try {
        await book.add({
          ...wish,
          id,
          request: withoutSecrets(wish.request),
          step: 'trying',
          tries: [],
          startedAt: now(),
        })
      } catch (error) {
        await secrets.forget({ id, request: wish.request }).catch(() => undefined)
        throw error
      }
      context.tell({
        failover: existing(id),
        text: `Renting with failover: up to ${wish.limits.tries} tries`,
        asked,
      })
      void pursue(id)
      return id
    },
    async cancel(id, needless = false) {
      const { step, unwanted } = existing(id)
      if (step !== 'trying' && !(needless && step === 'cancelled')) throw new BerthError(tooLate)
      if (unwanted && !needless) return
      await update(id, { unwanted: true, ...(needless ? { needless } : {}) })
      void pursue(id)
    },
    async dismiss(id) {
      if (existing(id).step !== 'trying') await update(id, { dismissed: true })
    },
    find,
    written: context.document.flush,
    looked(seen, unconfirmed) {
      instances = seen
      trials.looked(seen, unconfirmed)
      for (const { id, step } of book.all()) if (step === 'trying') void pursue(id)
    },
    dueAt() {
      const moments = [...due.values()]
      return moments.length === 0 ? undefined : Math.min(...moments)
    },
    underWay: () => book.all().some(({ step }) => step === 'trying'),
    view: () => failoverViews(book.all(), trials.rentalOf, instances),
  }
}

const tooLate = {
  code: 'too_late',
  message: 'It has ended already, so there is nothing left to cancel.',
  advice: 'Destroy the instance if you do not want it.',
}
