import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { OfferView } from '../../../contract/market/offer.ts'
import type { Replacement } from '../../../contract/market/rental.ts'
import { ServiceError } from '../../../service/service-error.ts'
import type { Session } from '../../accounts/session.ts'
import { needing } from '../../keys/permission.ts'
import { offerView, searchFor } from '../../offers/offer-view.ts'
import type { Handlers } from '../../page/dispatcher.ts'
import { requestLike, withoutOffer } from '../../rentals/request-like.ts'
import { wishOf } from '../instance/runs.ts'
import { doorOf, noteUser, type Parts } from '../parts.ts'

type RentingCommands = Pick<
  Handlers,
  'rent' | 'cancelRental' | 'waitLonger' | 'settleRental' | 'dismissRental' | 'findReplacement' | 'findAgain'
>

export function rentingCommands(parts: Parts): RentingCommands {
  const { accounts } = parts
  return {
    async rent({ account, request, replaces, run }) {
      const session = accounts.session(account)
      const offer = parts.seenOffers.get(session.id, request.offer)
      if (replaces !== undefined) {
        const { instance } = doorOf(parts, { account: session.id, instance: replaces })
        await needing('instance_write', session.client.instances.destroy(replaces).catch(unlessGone))
        noteUser(parts, session.id, 'Destroyed', instance, 'Another offer takes its place.')
      }
      if (!run) return session.rentals.rent(request, offer)
      const rental = `r${parts.machine.random.hex(16)}`
      const wish = { ...wishOf(parts, run), rental }
      return session.automations.runs.startOn(wish, () =>
        session.rentals.rent(request, offer, undefined, rental),
      )
    },
    cancelRental: ({ account, rental }) => accounts.session(account).rentals.cancel(rental),
    waitLonger: ({ account, rental }) => accounts.session(account).rentals.waitLonger(rental),
    settleRental: ({ account, rental, instance }) =>
      accounts.session(account).rentals.settle(rental, instance),
    dismissRental: ({ account, rental }) => accounts.session(account).rentals.dismiss(rental),
    async findReplacement(args) {
      const { instance, account } = doorOf(parts, args)
      const session = accounts.session(account)
      const remembered = session.rentals.requestOf(instance.id)
      const request = remembered
        ? withoutOffer(remembered)
        : requestLike(instance, session.record(instance.id))
      const offers = await offersFor(session, request, instance.gpu)
      const best = offers.find(
        offer => offer.machineId === undefined || offer.machineId !== instance.machineId,
      )
      return { request, ...(best ? { offer: best } : {}) }
    },
    async findAgain({ account, rental }) {
      const session = accounts.session(account)
      const { request, offer } = session.rentals.rented(rental)
      const { gpuName, gpuCount } = offer
      const gpu = gpuName === undefined ? undefined : { name: gpuName, count: gpuCount ?? 1 }
      const [best] = await offersFor(session, request, gpu)
      return { request: withoutOffer(request), ...(best ? { offer: best } : {}) }
    },
  }

  /** Offers that such a request would fit, of these GPUs, the best first. */
  async function offersFor(
    { id, client }: Session,
    request: Replacement['request'],
    gpu: InstanceView['gpu'],
  ): Promise<OfferView[]> {
    const type = request.bid === undefined ? 'on-demand' : 'bid'
    const search = searchFor({ type, storage: request.disk, verifiedOnly: false, limit: 50 })
    const same = gpu ? { gpu_name: { eq: gpu.name }, num_gpus: { eq: gpu.count } } : {}
    const searching = client.offers.search({ ...search, filters: { ...search.filters, ...same } })
    const offers = (await needing('misc', searching)).map(offerView)
    parts.seenOffers.remember(id, offers)
    return offers
  }
}

/** Gone already is as good as destroyed. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ServiceError && error.status === 404)) throw error
}
