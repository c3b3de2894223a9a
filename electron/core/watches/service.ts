import type { PriceSample, WatchRequest } from '#contract/automation/watch.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import type { Rentals } from '../renting/rentals.ts'
import { hasSecrets, rentalSecrets } from '../renting/secrets.ts'
import type { Runs } from '../runs/service.ts'
import { openCollection } from '../storage/collection.ts'
import { isDone, isDue, nextSearch, sameSearch, savedWatch, withKnownSecrets } from './decide.ts'
import { type StoredWatchRun, Watch } from './model.ts'
import { openWatchPrices } from './prices.ts'
import { createWatchRenting } from './renting.ts'
import { createMarketSearch } from './search-market.ts'
import { type LastResult, watchView } from './view.ts'
import { watchAlerts } from './watch-alerts.ts'

/** The repeated market searches of one account. They rent only where the user asked for that. */
export interface Watches extends Required<Omit<Automation, 'resume'>> {
  /** `run` is started on each machine that it rents. */
  save(id: string | undefined, request: WatchRequest, run?: StoredWatchRun): Promise<string>
  pause(id: string, paused: boolean): Promise<void>
  delete(id: string): Promise<void>
  /** Searches the market now. Never rejects; errors are in the view. */
  search(id: string): Promise<void>
  prices(id: string): PriceSample[]
}

const mostWatches = 50

export async function openWatches(
  context: AccountContext,
  rentals: Pick<Rentals, 'start' | 'find'>,
  runs: Pick<Runs, 'startOn' | 'forget'>,
): Promise<Watches> {
  const { account, now } = context
  const secrets = rentalSecrets(context.keychain)
  const lastResults = new Map<string, LastResult>()
  const [watches, prices] = await Promise.all([
    openCollection(context, {
      name: 'watches',
      schema: Watch,
      key: ({ id }) => id,
      missing: { code: 'no_such_watch', message: 'That watch is no longer there.' },
      view: all => ({
        watches: Object.fromEntries(
          all.map(watch => [watch.id, watchView(watch, lastResults.get(watch.id))]),
        ),
      }),
    }),
    openWatchPrices(context),
  ])
  const { all, get, update } = watches
  const { note, withdraw } = watchAlerts(context)

  function say(id: string, last: LastResult): void {
    lastResults.set(id, last)
    watches.show()
  }

  const renting = createWatchRenting(context, {
    watches,
    rentals,
    runs,
    secrets,
    said: (id, problem) => say(id, { matching: 0, ...lastResults.get(id), problem }),
  })
  const search = createMarketSearch(context, { watches, prices, renting, lastResults, say })

  /** The request with the secret values that the page does not have. */
  async function withSecrets(request: WatchRequest, before: Watch | undefined): Promise<WatchRequest> {
    if (!request.rents) return request
    const { rents } = before?.request ?? {}
    const known = before && rents && (await secrets.restore(before.id, rents.request))
    return {
      ...request,
      rents: { ...request.rents, request: withKnownSecrets(request.rents.request, known) },
    }
  }

  /** Entries that cannot be deleted now are deleted at the next start. */
  async function forgetSecrets(watch: Watch | undefined): Promise<void> {
    const request = watch?.request.rents?.request
    if (watch && request) await secrets.forget({ id: watch.id, request }).catch(() => undefined)
  }

  return {
    async save(given, request, run) {
      if (given === undefined && all().length >= mostWatches) throw new BerthError(tooMany)
      const before = given === undefined ? undefined : get(given)
      const id = given ?? `w${context.newId()}`
      const whole = await withSecrets(request, before)
      const openRequest = whole.rents?.request
      if (openRequest) await secrets.keep(id, openRequest)
      await watches.add(savedWatch({ id, account, request: whole, run }, before))
      if (!openRequest || !hasSecrets(openRequest)) await forgetSecrets(before)
      if (before && !sameSearch(before.request, request)) prices.forget(id)
      note('user', `${before ? 'Changed' : 'Began'} the watch “${request.name}”`)
      watches.show()
      void search(id)
      return id
    },
    async pause(id, paused) {
      const watch = get(id)
      const { request } = watch
      // Continuing a watch that is done starts over.
      const again = isDone(watch)
      const going = { failed: 0, rented: again ? 0 : watch.rented }
      await update(id, { paused, notesPrices: undefined, waits: undefined, ...(paused ? {} : going) })
      note('user', `${paused ? 'Paused' : 'Went on with'} the watch “${request.name}”`)
      if (!paused) void search(id)
    },
    async delete(id) {
      const watch = get(id)
      await watches.remove(id)
      await forgetSecrets(watch)
      prices.forget(id)
      lastResults.delete(id)
      withdraw(watch)
      note('user', `Deleted the watch “${watch.request.name}”`)
      watches.show()
    },
    search,
    prices: id => prices.of(get(id).id),
    onPoll() {
      for (const watch of all()) {
        void renting.check(watch.id)
        if (isDue(watch, now())) void search(watch.id)
      }
    },
    dueAt(after) {
      const moments = all().flatMap(watch => nextSearch(watch) ?? [])
      return Math.min(...moments.filter(moment => moment > after))
    },
    show: watches.show,
    secretOwners: () => all().flatMap(({ id, request }) => (request.rents ? id : [])),
    async flush() {
      await Promise.all([watches.flush(), prices.flush()])
    },
  }
}

const tooMany: Problem = {
  code: 'too_many_watches',
  message: `There are ${mostWatches} watches already.`,
  advice: 'Delete one that is no longer needed.',
}
