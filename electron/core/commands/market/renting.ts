import { firstBid } from '#contract/automation/bid.ts'
import type { rentingCommands as declared } from '#contract/commands/market/renting.ts'
import type { Replacement } from '#contract/market/rental-view.ts'
import { type SearchPart, withoutParts } from '#contract/market/search-part.ts'
import { BerthError } from '#contract/problem.ts'
import type { Session } from '#core/accounts/session/session.ts'
import { endInstance } from '#core/actions/end-instance.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { searchNarrowed } from '#core/market/find-offers.ts'
import { offerView } from '#core/market/offer-view.ts'
import { goodEnough } from '#core/renting/next-offer.ts'
import {
  asGoodAs,
  checkLengths,
  foundBy,
  type Replaced,
  requestAgain,
  requestLike,
} from '#core/renting/requests.ts'
import { newRunOf } from '../instance/runs.ts'
import { noteUser, type Parts, targetOf } from '../parts.ts'

type RentingCommands = HandlersOf<typeof declared>

export function rentingHandlers(parts: Parts): RentingCommands {
  const { accounts, activity } = parts
  return {
    async rent({ account, request, replaces, search, run }) {
      const session = accounts.session(account)
      const offer = parts.seenOffers.get(session.id, request.offer)
      parts.recentSearches.forget(session.id)
      if (replaces !== undefined) {
        const { instance } = targetOf(parts, { account: session.id, instance: replaces })
        await needingPermission('instance_write', endInstance(session.client, replaces, 'destroy'))
        noteUser(parts, session.id, 'Destroyed', instance, 'Another offer takes its place.')
      }
      if (!run) return session.rentals.rent(request, offer, { search })
      const rental = `r${parts.machine.random.hex(16)}`
      const newRun = { ...newRunOf(parts, run), rental }
      return session.automations.runs.startOn(newRun, () =>
        session.rentals.rent(request, offer, { search, id: rental }),
      )
    },
    async rentWithRetries({ account, search, request, limits, run }) {
      if ((search.query.type === 'bid') !== (request.bid !== undefined))
        throw new BerthError({
          code: 'invalid_argument',
          message: 'A bid is given for interruptible machines, and for no others.',
          field: 'request.bid',
        })
      const session = accounts.session(account)
      checkLengths(request, parts.store.get().accounts[session.id]?.beyondInterface === true)
      const wanted = { search, request, retries: limits, why: 'user' } as const
      if (!run) return session.rentals.start(wanted)
      const rental = `r${parts.machine.random.hex(16)}`
      const newRun = { ...newRunOf(parts, run), rental }
      return session.automations.runs.startOn(newRun, () => session.rentals.start(wanted, rental))
    },
    cancelRental: ({ account, rental }) => accounts.session(account).rentals.cancel(rental),
    waitLonger: ({ account, rental }) => accounts.session(account).rentals.waitLonger(rental),
    resolveRental: ({ account, rental, instance }) =>
      accounts.session(account).rentals.resolve(rental, instance),
    dismissRental: ({ account, rental }) => accounts.session(account).rentals.dismiss(rental),
    async forgiveMachine({ account, machine }) {
      const { id, rentals } = accounts.session(account)
      await rentals.forgive(machine)
      activity.add({ account: id, kind: 'user', text: `Forgave machine ${machine}` })
    },
    async findReplacement({ without, ...args }) {
      const { instance, account } = targetOf(parts, args)
      const session = accounts.session(account)
      const tried = session.rentals.ofInstance(instance.id)
      const record = session.record(instance.id)
      const request = tried ? requestAgain(tried) : requestLike(instance, record)
      const rental = tried && foundBy(tried)
      return bestOf(session, { request, rental, gpu: instance.gpu, record }, without, instance.machineId)
    },
    async findAgain({ account, rental: id, without }) {
      const session = accounts.session(account)
      const tried = session.rentals.lastTry(id)
      return bestOf(session, { request: requestAgain(tried), rental: foundBy(tried) }, without)
    },
  }

  /** The best offer on a machine other than `machine` that is as good, and the request with a sufficient bid. */
  async function bestOf(
    { id, client, rentals }: Session,
    replaced: Replaced,
    without: readonly SearchPart[] = [],
    machine?: number,
  ): Promise<Replacement> {
    const { request } = replaced
    const search = asGoodAs(replaced)
    const { query, filter } = withoutParts(search, without)
    const found = await needingPermission('misc', searchNarrowed(client.offers, query, filter))
    const offers = found.map(offerView)
    parts.seenOffers.remember(id, offers)
    const order = { column: 'price', descending: false } as const
    const failed = rentals.hosts.view()
    const fitting = goodEnough(offers, { query, filter, order }, request.disk, failed)
    const best = fitting.find(
      ({ offer }) => offer.machineId === undefined || offer.machineId !== machine,
    )?.offer
    if (!best || request.bid === undefined) return { request, search, offer: best }
    const bid = Math.max(request.bid, firstBid(best.minimumBid))
    return { request: { ...request, bid }, search, offer: best }
  }
}
