import type { PriceSample, WatchView, WatchWish } from '../../contract/automation/watch.ts'
import type { OfferView } from '../../contract/market/offer.ts'
import type { OpenRequest } from '../../contract/market/rental.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { Alert } from '../alerts/alerts.ts'
import type { AutomationSurroundings } from '../automation/automation.ts'
import type { Failovers } from '../failover/failovers.ts'
import { offerView, searchFor } from '../offers/offer-view.ts'
import { present } from '../present.ts'
import { problemOf } from '../problems.ts'
import type { Document } from '../remember/document.ts'
import { rentalSecrets, withoutSecrets } from '../rentals/secrets.ts'
import { sighting } from './matches.ts'
import { type KeptPrice, priceSamples, withPrices } from './prices.ts'
import { isDue, nextLook, type Watch } from './watch.ts'
import { doneAlert, matchAlert } from './watch-alerts.ts'
import { type LastLook, watchView } from './watch-view.ts'

/** What the watches of one account need of their surroundings. */
export interface WatchesSurroundings
  extends Pick<AutomationSurroundings, 'account' | 'client' | 'ending' | 'keychain' | 'now'> {
  document: Document<Watch[]>
  prices: Document<Record<string, KeptPrice[]>>
  failovers: Pick<Failovers, 'start' | 'find'>
  /** Sixteen hexadecimal digits that were never used before. */
  newId(): string
  /** The watches have changed. */
  changed(): void
  note(kind: 'user' | 'berth' | 'error', text: string, detail?: string): void
  alert(alert: Alert): void
  withdraw(watch: Watch): void
}

/** The searches of one account that are made again and again. Nothing is rented unless the user has said so. */
export interface Watches {
  save(id: string | undefined, wish: WatchWish): Promise<string>
  pause(id: string, paused: boolean): Promise<void>
  delete(id: string): Promise<void>
  /** Looks at the market now. Never rejects: what went wrong is in the view. */
  look(id: string): Promise<void>
  prices(id: string): PriceSample[]
  /** The account has answered: the moment to look at the market too, and at what was rented. */
  looked(): void
  dueAt(): number | undefined
  view(): Record<string, WatchView>
}

const mostWatches = 50
/** Failovers in a row that may come to nothing before a watch stops renting. */
const mostFailed = 3

export function createWatches(around: WatchesSurroundings): Watches {
  const { document, ending, now, failovers } = around
  const secrets = rentalSecrets(around.keychain)
  const lastLooks = new Map<string, LastLook>()
  /** Watches that are looking now. */
  const looking = new Map<string, Promise<void>>()
  /** Watches whose renting is being settled or begun: an end is not counted twice, nor a beginning taken for none. */
  const settling = new Set<string>()
  const find = (id: string) => document.get().find(watch => watch.id === id)

  function existing(id: string): Watch {
    const watch = find(id)
    if (!watch) throw new BerthError({ code: 'no_such_watch', message: 'That watch is no longer there.' })
    return watch
  }

  async function update(id: string, change: { [Field in keyof Watch]?: Watch[Field] | undefined }) {
    const recorded = document.record(watches =>
      watches.map(watch => (watch.id === id ? (present({ ...watch, ...change }) as Watch) : watch)),
    )
    around.changed()
    await recorded
  }

  function say(id: string, last: LastLook): void {
    lastLooks.set(id, last)
    around.changed()
  }

  function look(id: string): Promise<void> {
    const already = looking.get(id)
    if (already) return already
    const { wish } = existing(id)
    const search = searchFor(wish.search.query)
    const running = around
      .client()
      .offers.search(search, { signal: ending })
      // Changed meanwhile, its filter is for another search: what this one found says nothing.
      .then(offers => {
        const current = find(id)
        if (current && sameSearch(current.wish, wish)) return seen(id, offers.map(offerView))
        looking.delete(id)
        return current ? look(id) : undefined
      })
      .catch(error => failed(id, problemOf(error)))
      .finally(() => {
        if (looking.get(id) === running) looking.delete(id)
      })
    looking.set(id, running)
    return running
  }

  async function failed(id: string, problem: Problem): Promise<void> {
    if (ending.aborted || !find(id)) return
    say(id, { matching: 0, ...lastLooks.get(id), problem })
    await update(id, { lookedAt: now() })
  }

  /** What is told is on disk before it is told: after a kill it is rather not said than said twice. */
  async function seen(id: string, offers: readonly OfferView[]): Promise<void> {
    const watch = find(id)
    if (ending.aborted || !watch) return
    const at = now()
    const { matching, fresh, told } = sighting(watch, offers, at)
    const best = matching[0]?.offer
    say(id, { matching: matching.length, ...(best ? { best } : {}) })
    const before = around.prices.get()[id] ?? []
    const prices = withPrices(
      before,
      at,
      matching.map(({ price }) => price ?? 0),
    )
    if (prices !== before) around.prices.writeSoon(kept => ({ ...kept, [id]: [...prices] }))
    await update(id, { lookedAt: at, told })
    if (best === undefined) around.withdraw(watch)
    if (find(id)?.paused !== false) return
    if (watch.wish.rents) {
      if (best) await rentNext(id)
      return
    }
    const alert = matchAlert(watch, fresh)
    if (alert) around.alert(alert)
  }

  async function rentNext(id: string): Promise<void> {
    if (settling.has(id)) return
    settling.add(id)
    await beginRenting(existing(id)).finally(() => settling.delete(id))
  }

  async function beginRenting(watch: Watch): Promise<void> {
    const { id, wish } = watch
    const { search, rents } = wish
    if (!rents || watch.renting !== undefined || watch.rented >= rents.most) return
    const request = await secrets.restore({ id }, rents.request)
    // A keychain may ask the user first: meanwhile it may be paused, changed or deleted.
    const now = find(id)
    if (ending.aborted || !now || now.paused || now.wish !== wish) return
    if (!request) return stop(id, secretsLost)
    const failover = `f${around.newId()}`
    await document.write(watches =>
      watches.map(each => (each.id === id ? { ...each, renting: failover } : each)),
    )
    around.note('berth', `The watch “${watch.wish.name}” rents`, 'An offer matches.')
    await failovers.start({ search, request, limits: rents.limits }, failover)
    around.changed()
  }

  async function settleOnce(id: string): Promise<void> {
    if (settling.has(id)) return
    settling.add(id)
    await settle(existing(id)).finally(() => settling.delete(id))
  }

  /** What became of the machine it is renting. One that never began is none. */
  async function settle({ id, renting, rented, failed, wish }: Watch): Promise<void> {
    if (renting === undefined) return
    const step = failovers.find(renting)?.step
    if (step === 'trying') return
    if (step === 'ready') {
      await update(id, { renting: undefined, rented: rented + 1, failed: 0 })
      if (wish.rents && rented + 1 >= wish.rents.most) await finish(id)
    } else if (step === 'cancelled') {
      await update(id, { renting: undefined, paused: true })
      around.note('berth', `The watch “${wish.name}” is paused`, 'What it was renting was cancelled.')
    } else {
      await update(id, { renting: undefined, ...(step === 'failed' ? { failed: failed + 1 } : {}) })
      if (step === 'failed' && failed + 1 >= mostFailed) await stop(id, failsAlways)
    }
  }

  async function finish(id: string): Promise<void> {
    await update(id, { paused: true })
    const watch = find(id)
    if (!watch) return
    const machines = watch.rented === 1 ? 'One machine was' : `${watch.rented} machines were`
    const body = `${machines} rented, as many as it may.`
    around.note('berth', `The watch “${watch.wish.name}” has done its work`, body)
    around.alert(doneAlert(watch, `“${watch.wish.name}” has done its work`, body))
  }

  async function stop(id: string, problem: Problem): Promise<void> {
    await update(id, { paused: true, failed: 0 })
    say(id, { matching: 0, ...lastLooks.get(id), problem })
    const watch = find(id)
    if (!watch) return
    around.note('error', `The watch “${watch.wish.name}” is paused: ${problem.message}`, problem.advice)
    around.alert(doneAlert(watch, `“${watch.wish.name}” is paused`, problem.message))
  }

  return {
    async save(given, wish) {
      if (given === undefined && document.get().length >= mostWatches) throw new BerthError(tooMany)
      const before = given === undefined ? undefined : existing(given)
      const id = given ?? `w${around.newId()}`
      const rents = wish.rents && {
        ...wish.rents,
        request: await withKnownSecrets(wish.rents.request, before),
      }
      if (rents) await secrets.keep(id, rents.request)
      const kept = rents ? { ...wish, rents: { ...rents, request: withoutSecrets(rents.request) } } : wish
      const watch: Watch = {
        id,
        account: around.account,
        wish: kept,
        paused: false,
        told: before && sameSearch(before.wish, wish) ? before.told : [],
        rented: before?.rented ?? 0,
        failed: 0,
        ...(before?.renting === undefined ? {} : { renting: before.renting }),
      }
      await document.write(watches => [...watches.filter(other => other.id !== id), watch])
      if (!rents?.request.env.some(({ secret }) => secret)) await forgetSecrets(before)
      if (before && !sameSearch(before.wish, wish)) forgetPrices(id)
      around.note('user', `${before ? 'Changed' : 'Began'} the watch “${wish.name}”`)
      around.changed()
      void look(id)
      return id
    },
    async pause(id, paused) {
      const { wish, rented } = existing(id)
      // Going on after its work is done is to do it once more.
      const again = wish.rents !== undefined && rented >= wish.rents.most
      await update(id, { paused, ...(paused ? {} : { failed: 0, ...(again ? { rented: 0 } : {}) }) })
      around.note('user', `${paused ? 'Paused' : 'Went on with'} the watch “${wish.name}”`)
      if (!paused) void look(id)
    },
    async delete(id) {
      const watch = existing(id)
      await document.write(watches => watches.filter(other => other.id !== id))
      await forgetSecrets(watch)
      forgetPrices(id)
      lastLooks.delete(id)
      around.withdraw(watch)
      around.note('user', `Deleted the watch “${watch.wish.name}”`)
      around.changed()
    },
    look,
    prices: id => priceSamples(around.prices.get()[existing(id).id] ?? []),
    looked() {
      for (const watch of document.get()) {
        void settleOnce(watch.id)
        if (isDue(watch, now())) void look(watch.id)
      }
    },
    dueAt() {
      const moments = document
        .get()
        .filter(({ paused }) => !paused)
        .map(nextLook)
      return moments.length === 0 ? undefined : Math.min(...moments)
    },
    view: () =>
      Object.fromEntries(document.get().map(watch => [watch.id, watchView(watch, lastLooks.get(watch.id))])),
  }

  /** The page never gets a secret value back: one that it leaves empty stays what it was. */
  async function withKnownSecrets(request: OpenRequest, before: Watch | undefined): Promise<OpenRequest> {
    const known = before?.wish.rents && (await secrets.restore({ id: before.id }, before.wish.rents.request))
    const knownValue = (name: string) => known?.env.find(other => other.secret && other.name === name)?.value
    const env = request.env.map(each =>
      each.secret && each.value === '' ? { ...each, value: knownValue(each.name) ?? '' } : each,
    )
    return { ...request, env }
  }

  /** What could not be deleted is at the next start. */
  async function forgetSecrets(watch: Watch | undefined): Promise<void> {
    const request = watch?.wish.rents?.request
    if (watch && request) await secrets.forget({ id: watch.id, request }).catch(() => undefined)
  }

  function forgetPrices(id: string): void {
    around.prices.writeSoon(kept =>
      Object.fromEntries(Object.entries(kept).filter(([other]) => other !== id)),
    )
  }
}

function sameSearch(a: WatchWish, b: WatchWish): boolean {
  return JSON.stringify(a.search) === JSON.stringify(b.search)
}

const tooMany: Problem = {
  code: 'too_many_watches',
  message: `There are ${mostWatches} watches already.`,
  advice: 'Delete one that is no longer needed.',
}

const secretsLost: Problem = {
  code: 'secrets_lost',
  message: 'The secret values it rents with are no longer in the keychain.',
  advice: 'Change the watch and enter them again.',
}

const failsAlways: Problem = {
  code: 'watch_failed',
  message: `${mostFailed} attempts in a row came to nothing.`,
  advice: 'Activity says why. Go on with the watch to try again.',
}
