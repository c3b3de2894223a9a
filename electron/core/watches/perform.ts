import type { PriceSample, WatchRequest } from '#shared/automation/watch.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { type Teller, tellerOf } from '../alerts/notifications.ts'
import { lackedBy } from '../bridge/problems.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { findOffers } from '../market/find-offers.ts'
import { hasSecrets, type RequestSecrets, requestSecrets } from '../market/request-secrets.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { matchAlert, mostWatches, tooMany, watchAlertId } from './messages.ts'
import { openWatchPrices, type WatchPrices } from './prices.ts'
import {
  isDone,
  type LastResult,
  type StoredWatchRun,
  sameSearch,
  savedWatch,
  Watch,
  watchView,
  withKnownSecrets,
} from './record.ts'
import { type WatchRentals, WatchRenting, type WatchRuns } from './renting.ts'
import { isDue, nextSearch, resultOf } from './step.ts'

/** The repeated market searches of one account. They rent only where the user asked for that. */
export class Watches {
  readonly #context: AccountContext
  readonly #stored: Collection<Watch, string>
  readonly #prices: WatchPrices
  readonly #results: Map<string, LastResult>
  readonly #secrets: RequestSecrets
  readonly #renting: WatchRenting
  readonly #worker: Worker<string>
  readonly #tell: Teller

  static async open(context: AccountContext, rentals: WatchRentals, runs: WatchRuns): Promise<Watches> {
    const results = new Map<string, LastResult>()
    const [stored, prices] = await Promise.all([
      openCollection(context, {
        name: 'watches',
        schema: Watch,
        key: ({ id }) => id,
        missing: { code: 'no_such_watch', message: 'That watch no longer exists.' },
        view: all => ({
          watches: Object.fromEntries(all.map(watch => [watch.id, watchView(watch, results.get(watch.id))])),
        }),
      }),
      openWatchPrices(context),
    ])
    return new Watches(context, { stored, prices, results, rentals, runs })
  }

  constructor(
    context: AccountContext,
    {
      stored,
      prices,
      results,
      rentals,
      runs,
    }: {
      stored: Collection<Watch, string>
      prices: WatchPrices
      results: Map<string, LastResult>
      rentals: WatchRentals
      runs: WatchRuns
    },
  ) {
    this.#context = context
    this.#stored = stored
    this.#prices = prices
    this.#results = results
    this.#secrets = requestSecrets(context.keychain)
    this.#tell = tellerOf(context)
    this.#renting = new WatchRenting(context, {
      watches: stored,
      secrets: this.#secrets,
      rentals,
      runs,
      showProblem: (id, problem) => this.#show(id, { matching: 0, ...results.get(id), problem }),
    })
    this.#worker = new Worker({
      clock: context.platform.clock,
      quitting: context.quitting,
      turn: id => this.#turn(id),
      hindered: (id, { error, problem }) => this.#hindered(id, lackedBy(error, 'misc') ?? problem),
    })
  }

  /** `run` is started on each machine that it rents. */
  async save(given: string | undefined, request: WatchRequest, run?: StoredWatchRun): Promise<string> {
    const { account, newId } = this.#context
    if (given === undefined && this.#stored.all().length >= mostWatches) throw new BerthError(tooMany)
    const before = given === undefined ? undefined : this.#stored.get(given)
    const id = given ?? `w${newId()}`
    const whole = await this.#withSecrets(request, before)
    const openRequest = whole.rents?.request
    if (openRequest) await this.#secrets.keep(id, openRequest)
    await this.#stored.add(savedWatch({ id, account, request: whole, run }, before))
    if (!openRequest || !hasSecrets(openRequest)) await this.#forgetSecrets(before)
    if (before && !sameSearch(before.request, request)) this.#prices.forget(id)
    this.#tell.note('user', `${before ? 'Changed' : 'Started'} the watch “${request.name}”`)
    this.#stored.show()
    void this.search(id)
    return id
  }

  async pause(id: string, paused: boolean): Promise<void> {
    const watch = this.#stored.get(id)
    const { request } = watch
    // Continuing a watch that is done starts over.
    const again = isDone(watch)
    const going = { failed: 0, rented: again ? 0 : watch.rented }
    await this.#stored.update(id, {
      paused,
      notesPrices: undefined,
      waits: undefined,
      ...(paused ? {} : going),
    })
    this.#tell.note('user', `${paused ? 'Paused' : 'Resumed'} the watch “${request.name}”`)
    if (!paused) void this.search(id)
  }

  async delete(id: string): Promise<void> {
    const watch = this.#stored.get(id)
    await this.#stored.remove(id)
    await this.#forgetSecrets(watch)
    this.#prices.forget(id)
    this.#results.delete(id)
    this.#tell.withdraw(watchAlertId(watch))
    this.#tell.note('user', `Deleted the watch “${watch.request.name}”`)
    this.#stored.show()
  }

  /** Searches the market now. Throws `no_such_watch`; errors of the search are in the view. */
  async search(id: string): Promise<void> {
    this.#stored.get(id)
    if (!this.#worker.isBusy(id)) this.#worker.wake(id)
    await this.#worker.settled(id)
  }

  prices(id: string): PriceSample[] {
    return this.#prices.of(this.#stored.get(id).id)
  }

  onPoll(): void {
    for (const watch of this.#stored.all()) {
      this.#renting.check(watch.id)
      if (isDue(watch, this.#context.now())) void this.search(watch.id)
    }
  }

  dueAt(after: number): number {
    const moments = this.#stored.all().flatMap(watch => nextSearch(watch) ?? [])
    return Math.min(...moments.filter(moment => moment > after))
  }

  show(): void {
    this.#stored.show()
  }

  secretOwners(): readonly string[] {
    return this.#stored.all().flatMap(({ id, request }) => (request.rents ? id : []))
  }

  async flush(): Promise<void> {
    await Promise.all([this.#stored.flush(), this.#prices.flush()])
  }

  /** Searches the market, and alerts or rents. */
  async #turn(id: string): Promise<Next> {
    const { client, quitting } = this.#context
    const { request } = this.#stored.find(id) ?? {}
    if (!request) return 'rest'
    const { query, filter } = request.search
    // The page's search: a service that truncates its lists is asked again with the filter.
    const { offers } = await findOffers(client().offers, query, filter, { signal: quitting })
    const current = this.#stored.find(id)
    // After a change of the filter meanwhile, the result is useless and the search is repeated.
    if (current && !sameSearch(current.request, request)) return 'again'
    await this.#onOffers(id, offers)
    return 'rest'
  }

  /** The next search is due as after one that succeeded. */
  async #hindered(id: string, problem: Problem): Promise<Next> {
    // Keeps the reason for the pause visible.
    if (this.#stored.find(id) && !this.#isAside(id))
      this.#show(id, { matching: 0, ...this.#results.get(id), problem })
    await this.#stored.update(id, { searchedAt: this.#context.now() })
    return 'rest'
  }

  /** Known offers are stored before the alert: after a kill, an alert is missed rather than repeated. */
  async #onOffers(id: string, offers: readonly OfferView[]): Promise<void> {
    const { quitting, now } = this.#context
    const watch = this.#stored.find(id)
    if (quitting.aborted || !watch) return
    const at = now()
    const { found, matching, fresh, alerted } = resultOf(watch, offers, at)
    const [best] = matching
    const problem = this.#isAside(id) ? this.#results.get(id)?.problem : undefined
    this.#show(id, { matching: matching.length, best: best?.offer, problem })
    const seenPrices = found.map(({ price }) => price ?? 0)
    this.#prices.note(id, at, seenPrices)
    // Offers that appear during a pause are news when it continues.
    await this.#stored.update(id, { searchedAt: at, alerted: watch.paused ? watch.alerted : alerted })
    if (!best) this.#tell.withdraw(watchAlertId(watch))
    if (this.#stored.find(id)?.paused !== false) return
    if (watch.request.rents) return this.#renting.onOffer(id, best && (best.price ?? 0))
    const match = matchAlert(watch, { fresh, matching })
    if (match) this.#tell.alert(match)
  }

  /** Whether it was paused by Berth, and searches for prices alone. */
  #isAside(id: string): boolean {
    const watch = this.#stored.find(id)
    return watch?.paused === true && watch.notesPrices === true
  }

  #show(id: string, last: LastResult): void {
    this.#results.set(id, last)
    this.#stored.show()
  }

  /** The request with the secret values that the page does not have. */
  async #withSecrets(request: WatchRequest, before: Watch | undefined): Promise<WatchRequest> {
    if (!request.rents) return request
    const { rents } = before?.request ?? {}
    const known = before && rents && (await this.#secrets.restore(before.id, rents.request))
    return {
      ...request,
      rents: { ...request.rents, request: withKnownSecrets(request.rents.request, known) },
    }
  }

  /** Entries that cannot be deleted now are deleted at the next start. */
  async #forgetSecrets(watch: Watch | undefined): Promise<void> {
    const request = watch?.request.rents?.request
    if (watch && request) await this.#secrets.forget({ id: watch.id, request }).catch(() => undefined)
  }
}
