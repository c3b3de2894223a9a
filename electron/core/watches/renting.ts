import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { type Teller, tellerOf } from '../alerts/notifications.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { blockingAccountLimit } from '../limits/may-start.ts'
import type { RequestSecrets } from '../market/request-secrets.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { Collection } from '../storage/collection.ts'
import {
  allRentedAlert,
  failsAlways,
  keptProblem,
  mostFailed,
  secretsLost,
  watchDoneAlert,
} from './messages.ts'
import type { StoredWatchRun, Watch } from './record.ts'

export type WatchRentals = Pick<Rentals, 'start' | 'find'>

/** How a run is started on the machine. */
export interface WatchRuns {
  startOn(
    run: StoredWatchRun & { rental: string; rentedAgain: true },
    rent: () => Promise<string>,
  ): Promise<string>
  /** Removes the run that waits for a rental which never began. */
  forget(rental: string): Promise<void>
}

interface WatchRentingParts {
  watches: Collection<Watch, string>
  secrets: RequestSecrets
  rentals: WatchRentals
  runs: WatchRuns
  /** Shows why a watch was stopped. */
  showProblem(id: string, problem: Problem): void
}

/** Renting by watches, and following their rentals. */
export class WatchRenting {
  readonly #context: AccountContext
  readonly #parts: WatchRentingParts
  readonly #worker: Worker<string>
  readonly #tell: Teller
  /** The prices of offers that searches have just found, in micro-dollars per hour; undefined for none. */
  readonly #offers = new Map<string, Micros | undefined>()

  constructor(context: AccountContext, parts: WatchRentingParts) {
    this.#context = context
    this.#parts = parts
    this.#tell = tellerOf(context)
    this.#worker = new Worker({
      clock: context.platform.clock,
      quitting: context.quitting,
      turn: id => this.#turn(id),
      // The next search or poll tries again.
      hindered: () => 'rest',
    })
  }

  /** A search has ended; `price` is that of the cheapest match. Resolves once it is rented, or isn't to be. */
  onOffer(id: string, price: Micros | undefined): Promise<void> {
    this.#offers.set(id, price)
    return this.#worker.once(id)
  }

  /** Checks the rental of a watch's machine. */
  check(id: string): void {
    this.#worker.wake(id)
  }

  async #turn(id: string): Promise<Next> {
    const { watches } = this.#parts
    const isSearched = this.#offers.has(id)
    const price = this.#offers.get(id)
    this.#offers.delete(id)
    const before = watches.find(id)
    if (before) await this.#follow(before)
    const watch = watches.find(id)
    if (watch && isSearched && price !== undefined) await this.#rent(watch, price)
    else if (isSearched && watch?.waits) await watches.update(id, { waits: undefined })
    return 'rest'
  }

  /** Rents only if no limit would stop the instance at the next poll: its disk would cost money for nothing. */
  async #rent(watch: Watch, price: Micros): Promise<void> {
    const { account, store, now } = this.#context
    const { watches } = this.#parts
    const { id, request, renting, rented } = watch
    if (!request.rents || renting !== undefined || rented >= request.rents.most) return
    const waits = blockingAccountLimit(store.get().accounts[account], { more: price }, now())
    if (waits?.message !== watch.waits?.message) {
      await watches.update(id, { waits })
      if (waits)
        this.#tell.alert(watchDoneAlert(watch, `“${request.name}” has paused renting`, waits.message))
    }
    const after = watches.find(id)
    if (!waits && after) await this.#begin(after)
  }

  async #begin({ id, request, run }: Watch): Promise<void> {
    const { watches, secrets, rentals, runs } = this.#parts
    const { search, rents } = request
    if (!rents) return
    const openRequest = await secrets.restore(id, rents.request)
    // The keychain may have asked the user; meanwhile the watch may have been paused, changed or deleted.
    const now = watches.find(id)
    if (this.#context.quitting.aborted || !now || now.paused || now.request !== request || now.run !== run)
      return
    if (!openRequest) return this.#stop(id, secretsLost)
    const rental = `r${this.#context.newId()}`
    await watches.intend(id, { renting: rental })
    const then = run ? ` It will run “${run.name}”.` : ''
    this.#tell.note('berth', `The watch “${request.name}” is renting`, `An offer matches.${then}`)
    const retryRequest = { search, request: openRequest, retries: rents.limits, why: 'watch' } as const
    const rent = () => rentals.start(retryRequest, rental)
    await (run ? runs.startOn({ ...run, rental, rentedAgain: true }, rent) : rent())
    watches.show()
  }

  /** Follows its rental. One that never began is dropped. */
  async #follow({ id, renting, rented, failed, request }: Watch): Promise<void> {
    const { watches, rentals, runs } = this.#parts
    if (renting === undefined) return
    const rental = rentals.find(renting)
    switch (rental?.step) {
      case 'trying':
        return
      case 'ready': {
        const another = { renting: undefined, rented: rented + 1, failed: 0 }
        if (request.rents && rented + 1 >= request.rents.most) await this.#finish(id, another)
        else await watches.update(id, another)
        return
      }
      case 'cancelled':
        await watches.update(id, { renting: undefined, paused: true, notesPrices: true })
        return this.#tell.note('berth', `The watch “${request.name}” is paused`, 'Its rental was cancelled.')
      case 'failed':
        // A machine that someone stopped still exists and costs its disk, and so would the next one.
        if (rental.instance !== undefined)
          return this.#stop(id, keptProblem(rental.instance), { renting: undefined, rented: rented + 1 })
        if (failed + 1 >= mostFailed) return this.#stop(id, failsAlways, { renting: undefined })
        await watches.update(id, { renting: undefined, failed: failed + 1 })
        return
      default:
        await Promise.all([runs.forget(renting), watches.update(id, { renting: undefined })])
    }
  }

  /** In one write with its cause, so that a kill cannot separate them. */
  async #finish(id: string, why: Partial<Watch>): Promise<void> {
    const watch = await this.#parts.watches.update(id, { ...why, paused: true, notesPrices: true })
    if (watch) this.#tell.alert(allRentedAlert(watch))
  }

  /** As `finish`. */
  async #stop(id: string, problem: Problem, why: Partial<Watch> = {}): Promise<void> {
    const { watches, showProblem } = this.#parts
    // A watch that the user paused meanwhile stays paused.
    const notesPrices = watches.find(id)?.paused ? watches.find(id)?.notesPrices : true
    const watch = await watches.update(id, { ...why, paused: true, notesPrices, failed: 0 })
    showProblem(id, problem)
    if (!watch) return
    const { message, advice = '' } = problem
    this.#tell.alert(
      watchDoneAlert(watch, `“${watch.request.name}” is paused`, `${message} ${advice}`.trim()),
    )
  }
}
