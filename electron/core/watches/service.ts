import * as v from 'valibot'
import type { PriceSample, WatchRequest } from '../../contract/automation/watch.ts'
import type { OfferView } from '../../contract/market/offer.ts'
import type { OpenRequest } from '../../contract/market/rental.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import { lackedBy } from '../app/permission.ts'
import { problemOf } from '../app/problems.ts'
import type { Failovers } from '../renting/attempts/service.ts'
import { findOffers } from '../renting/offers/find-offers.ts'
import { hasSecrets, rentalSecrets, withoutSecrets } from '../renting/rentals/secrets.ts'
import type { Runs } from '../runs/service.ts'
import { openCollection } from '../storage/collection.ts'
import { openDocument } from '../storage/json-file.ts'
import { matchAlert } from './alerts.ts'
import { isDue, nextLook } from './decide.ts'
import { sighting } from './matches.ts'
import { type StoredWatchRun, Watch } from './model.ts'
import { priceSamples, StoredPrices, withPrices } from './prices.ts'
import { createWatchRenting } from './renting.ts'
import { watchAlerts } from './tell.ts'
import { type LastLook, watchView } from './view.ts'

/** The searches of one account that are made again and again. Nothing is rented unless the user has said so. */
export interface Watches extends Required<Automation> {
  /** `run` is what is run on each machine that it rents. */
  save(id: string | undefined, wish: WatchRequest, run?: StoredWatchRun): Promise<string>
  pause(id: string, paused: boolean): Promise<void>
  delete(id: string): Promise<void>
  /** Looks at the market now. Never rejects: what went wrong is in the view. */
  look(id: string): Promise<void>
  prices(id: string): PriceSample[]
}

const mostWatches = 50

export async function openWatches(
  context: AccountContext,
  failovers: Pick<Failovers, 'start' | 'find'>,
  runs: Pick<Runs, 'startOn' | 'forget'>,
): Promise<Watches> {
  const { account, ending, now } = context
  const secrets = rentalSecrets(context.keychain)
  const lastLooks = new Map<string, LastLook>()
  /** Watches that are looking now. */
  const looking = new Map<string, Promise<void>>()
  const [watches, prices] = await Promise.all([
    openCollection(context, {
      name: 'watches',
      schema: Watch,
      key: ({ id }) => id,
      missing: { code: 'no_such_watch', message: 'That watch is no longer there.' },
      view: all => ({
        watches: Object.fromEntries(all.map(watch => [watch.id, watchView(watch, lastLooks.get(watch.id))])),
      }),
    }),
    openDocument({
      files: context.files,
      clock: context.machine.clock,
      name: `${context.folder}/watch-prices.json`,
      schema: v.record(v.string(), StoredPrices),
      empty: {},
      onBroken: context.onBroken,
    }),
  ])
  const { all, find, get, update } = watches
  const { note, alert, withdraw } = watchAlerts(context)

  function say(id: string, last: LastLook): void {
    lastLooks.set(id, last)
    watches.show()
  }

  /** It paused by itself, and looks for the prices alone. */
  function isAside(id: string): boolean {
    const watch = find(id)
    return watch?.paused === true && watch.notesPrices === true
  }

  const renting = createWatchRenting(context, {
    watches,
    failovers,
    runs,
    secrets,
    said: (id, problem) => say(id, { matching: 0, ...lastLooks.get(id), problem }),
  })

  function look(id: string): Promise<void> {
    const already = looking.get(id)
    if (already) return already
    const { wish } = get(id)
    const { query, filter } = wish.search
    // The same search as on the page: a service that caps its lists is asked for what matches, too.
    const running = findOffers(context.client().offers, query, filter, { signal: ending })
      // Changed meanwhile, its filter is for another search: what this one found says nothing.
      .then(({ offers }) => {
        const current = find(id)
        if (current && sameSearch(current.wish, wish)) return seen(id, offers)
        looking.delete(id)
        return current ? look(id) : undefined
      })
      .catch(error => failed(id, lackedBy(error, 'misc') ?? problemOf(error)))
      .finally(() => {
        if (looking.get(id) === running) looking.delete(id)
      })
    looking.set(id, running)
    return running
  }

  async function failed(id: string, problem: Problem): Promise<void> {
    if (ending.aborted || !find(id)) return
    // Why it paused is not to be hidden by why prices could not be noted.
    if (!isAside(id)) say(id, { matching: 0, ...lastLooks.get(id), problem })
    await update(id, { lookedAt: now() })
  }

  /** What is told is on disk before it is told: after a kill it is rather not said than said twice. */
  async function seen(id: string, offers: readonly OfferView[]): Promise<void> {
    const watch = find(id)
    if (ending.aborted || !watch) return
    const at = now()
    const { found, matching, fresh, told } = sighting(watch, offers, at)
    const best = matching[0]?.offer
    const problem = isAside(id) ? lastLooks.get(id)?.problem : undefined
    say(id, { matching: matching.length, best, problem })
    const before = prices.get()[id] ?? []
    const after = withPrices(
      before,
      at,
      found.map(({ price }) => price ?? 0),
    )
    if (after !== before) prices.writeSoon(kept => ({ ...kept, [id]: [...after] }))
    // What is there while it is paused is news once it goes on.
    await update(id, { lookedAt: at, told: watch.paused ? watch.told : told })
    if (best === undefined) withdraw(watch)
    if (find(id)?.paused !== false) return
    if (watch.wish.rents) {
      if (matching[0]) await renting.next(id, matching[0].price ?? 0)
      else await renting.none(id)
      return
    }
    const match = matchAlert(watch, { fresh, matching })
    if (match) alert(match)
  }

  return {
    async save(given, wish, run) {
      if (given === undefined && all().length >= mostWatches) throw new BerthError(tooMany)
      const before = given === undefined ? undefined : get(given)
      const id = given ?? `w${context.newId()}`
      const rents = wish.rents && {
        ...wish.rents,
        request: await withKnownSecrets(wish.rents.request, before),
      }
      if (rents) await secrets.keep(id, rents.request)
      const kept = rents ? { ...wish, rents: { ...rents, request: withoutSecrets(rents.request) } } : wish
      // Changed after its work is done, it begins anew.
      const rented = before && !isDone(before) ? before.rented : 0
      const watch: Watch = {
        id,
        account,
        wish: kept,
        run: rents && run,
        // With fewer machines than it has rented already, there is nothing left to do.
        ...(kept.rents !== undefined && rented >= kept.rents.most
          ? { paused: true, notesPrices: true }
          : { paused: false }),
        // Of another search, all that is there at its first look is no news.
        told: before?.told && sameSearch(before.wish, wish) ? before.told : undefined,
        rented,
        failed: 0,
        renting: before?.renting,
      }
      await watches.add(watch)
      if (!rents || !hasSecrets(rents.request)) await forgetSecrets(before)
      if (before && !sameSearch(before.wish, wish)) forgetPrices(id)
      note('user', `${before ? 'Changed' : 'Began'} the watch “${wish.name}”`)
      watches.show()
      void look(id)
      return id
    },
    async pause(id, paused) {
      const watch = get(id)
      const { wish } = watch
      // Going on after its work is done is to do it once more.
      const again = isDone(watch)
      const going = { failed: 0, rented: again ? 0 : watch.rented }
      await update(id, { paused, notesPrices: undefined, waits: undefined, ...(paused ? {} : going) })
      note('user', `${paused ? 'Paused' : 'Went on with'} the watch “${wish.name}”`)
      if (!paused) void look(id)
    },
    async delete(id) {
      const watch = get(id)
      await watches.remove(id)
      await forgetSecrets(watch)
      forgetPrices(id)
      lastLooks.delete(id)
      withdraw(watch)
      note('user', `Deleted the watch “${watch.wish.name}”`)
      watches.show()
    },
    look,
    prices: id => priceSamples(prices.get()[get(id).id] ?? []),
    onPoll() {
      for (const watch of all()) {
        void renting.settle(watch.id)
        if (isDue(watch, now())) void look(watch.id)
      }
    },
    dueAt(after) {
      const moments = all()
        .map(nextLook)
        .filter(moment => moment !== undefined)
        .filter(moment => moment > after)
      return Math.min(...moments)
    },
    resume: watches.show,
    secretOwners: () => all().flatMap(({ id, wish }) => (wish.rents ? id : [])),
    async flush() {
      await Promise.all([watches.flush(), prices.flush()])
    },
  }

  /** The page never gets a secret value back: one that it leaves empty stays what it was. */
  async function withKnownSecrets(request: OpenRequest, before: Watch | undefined): Promise<OpenRequest> {
    const known = before?.wish.rents && (await secrets.restore({ id: before.id }, before.wish.rents.request))
    const knownValue = (name: string) => known?.env.find(other => other.secret && other.name === name)?.value
    const env = request.env.map(each =>
      each.secret && each.value === '' ? { ...each, value: knownValue(each.name) ?? '' } : each,
    )
    return { ...request, env, ...withKnownToken(request.registry, known?.registry) }
  }

  /** A token belongs to the registry and the user that it was given for. */
  function withKnownToken(now: OpenRequest['registry'], known: OpenRequest['registry']) {
    if (now?.token !== '' || now.server !== known?.server || now.user !== known.user) return {}
    return { registry: known }
  }

  /** What could not be deleted is at the next start. */
  async function forgetSecrets(watch: Watch | undefined): Promise<void> {
    const request = watch?.wish.rents?.request
    if (watch && request) await secrets.forget({ id: watch.id, request }).catch(() => undefined)
  }

  function forgetPrices(id: string): void {
    prices.writeSoon(kept => Object.fromEntries(Object.entries(kept).filter(([other]) => other !== id)))
  }
}

/** Whether it has rented as many as it may. */
function isDone({ wish, rented, renting }: Watch): boolean {
  return wish.rents !== undefined && renting === undefined && rented >= wish.rents.most
}

function sameSearch(a: WatchRequest, b: WatchRequest): boolean {
  return JSON.stringify(a.search) === JSON.stringify(b.search)
}

const tooMany: Problem = {
  code: 'too_many_watches',
  message: `There are ${mostWatches} watches already.`,
  advice: 'Delete one that is no longer needed.',
}
