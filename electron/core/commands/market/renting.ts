import { firstBid } from '#contract/automation/bid.ts'
import type { rentingCommands as declared } from '#contract/commands/market/renting.ts'
import type { Replacement } from '#contract/market/rental.ts'
import { type SearchPart, withoutParts } from '#contract/market/search-part.ts'
import type { Session } from '#core/accounts/session/session.ts'
import { endInstance } from '#core/actions/end-instance.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { goodEnough } from '#core/renting/attempts/best-offer.ts'
import { searchNarrowed } from '#core/renting/offers/find-offers.ts'
import { offerView } from '#core/renting/offers/offer-view.ts'
import { asGoodAs, type Replaced } from '#core/renting/rentals/as-good.ts'
import { requestLike, withoutOffer } from '#core/renting/rentals/request-like.ts'
import { newRunOf } from '../instance/runs.ts'
import { noteUser, type Parts, targetOf } from '../parts.ts'

type RentingCommands = HandlersOf<typeof declared>

export function rentingHandlers(parts: Parts): RentingCommands {
  const { accounts } = parts
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
    cancelRental: ({ account, rental }) => accounts.session(account).rentals.cancel(rental),
    waitLonger: ({ account, rental }) => accounts.session(account).rentals.waitLonger(rental),
    resolveRental: ({ account, rental, instance }) =>
      accounts.session(account).rentals.resolve(rental, instance),
    dismissRental: ({ account, rental }) => accounts.session(account).rentals.dismiss(rental),
    async findReplacement({ without, ...args }) {
      const { instance, account } = targetOf(parts, args)
      const session = accounts.session(account)
      const rental = session.rentals.ofInstance(instance.id)
      const record = session.record(instance.id)
      const request = rental ? withoutOffer(rental.request) : requestLike(instance, record)
      return bestOf(session, { request, rental, gpu: instance.gpu, record }, without, instance.machineId)
    },
    async findAgain({ account, rental: id, without }) {
      const session = accounts.session(account)
      const rental = session.rentals.rented(id)
      return bestOf(session, { request: withoutOffer(rental.request), rental }, without)
    },
  }

  /** The best offer on a machine other than `machine` that is as good, and the request with a sufficient bid. */
  async function bestOf(
    { id, client, automations }: Session,
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
    const failed = automations.attempts.hosts.view()
    const fitting = goodEnough(offers, { query, filter, order }, request.disk, failed)
    const best = fitting.find(
      ({ offer }) => offer.machineId === undefined || offer.machineId !== machine,
    )?.offer
    if (!best || request.bid === undefined) return { request, search, offer: best }
    const bid = Math.max(request.bid, firstBid(best.minimumBid))
    return { request: { ...request, bid }, search, offer: best }
  }
}
