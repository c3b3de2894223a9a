import { isTrying } from '../../../../electron/contract/automation/attempts.ts'
import type { Args } from '../../../../electron/contract/commands.ts'
import type { RentRequest } from '../../../../electron/contract/market/rental.ts'
import { isDead } from '../../../../electron/contract/reading.ts'
import { type Hand, instancesOf, type UserAction } from './hand.ts'

/** The most instances the user keeps alive, pending requests included. */
const mostAtOnce = 9

export const renting: readonly UserAction[] = [
  {
    name: 'attempts',
    weight: 5,
    do: hand => (hasEnough(hand) ? undefined : rentWithAttempts(hand, undefined)),
  },
  {
    name: 'attempts with a bid',
    weight: 5,
    do: hand => (hasEnough(hand) ? undefined : rentWithAttempts(hand, aBid(hand))),
  },
  { name: 'rentals', weight: 3, do: hand => (hasEnough(hand) ? undefined : rent(hand, undefined)) },
  {
    name: 'rentals with a bid',
    weight: 2,
    do: hand => (hasEnough(hand) ? undefined : rent(hand, aBid(hand))),
  },
  {
    name: 'cancelled attempts',
    weight: 1,
    do({ berth, account, chance }) {
      const attemptSeries = chance.oneOf(Object.values(account.attempts).filter(isTrying))
      return attemptSeries && berth.run('cancelAttempts', { attemptSeries: attemptSeries.id })
    },
  },
  {
    name: 'cancelled rentals',
    weight: 1,
    do({ berth, account, chance }) {
      const rental = chance.oneOf(Object.values(account.rentals).filter(({ step }) => step !== 'failed'))
      return rental && berth.run('cancelRental', { rental: rental.id })
    },
  },
  {
    name: 'late rentals given up',
    weight: 4,
    do({ berth, account, chance }) {
      const rental = chance.oneOf(Object.values(account.rentals).filter(({ step }) => step === 'late'))
      return rental && berth.run('cancelRental', { rental: rental.id })
    },
  },
  {
    name: 'ends taken off the list',
    weight: 2,
    do({ berth, account, chance }) {
      const attemptSeries = chance.oneOf(Object.values(account.attempts).filter(one => !isTrying(one)))
      return attemptSeries && berth.run('dismissAttempts', { attemptSeries: attemptSeries.id })
    },
  },
  {
    name: 'watches',
    weight: 1,
    do(hand) {
      const { berth, account, chance } = hand
      const watch = chance.oneOf(Object.values(account.watches))
      if (watch) return chance.happens(0.5) ? berth.run('deleteWatch', { watch: watch.id }) : undefined
      const { search, request, limits } = attemptsRequest(hand, undefined)
      return berth.run('saveWatch', {
        request: {
          name: 'Bargains',
          search,
          every: 15,
          rents: { request, limits, most: chance.integer(1, 3) },
        },
      })
    },
  },
]

function hasEnough(hand: Hand): boolean {
  const { attempts, rentals } = hand.account
  const alive = instancesOf(hand).filter(instance => !isDead(instance))
  const underWay = Object.values(attempts).filter(one => isTrying(one) && one.instance === undefined)
  return alive.length + underWay.length + Object.keys(rentals).length >= mostAtOnce
}

/** Dollars per hour. */
function aBid({ chance }: Hand): number {
  return Math.round(chance.between(0.15, 0.6) * 1000) / 1000
}

function rentWithAttempts(hand: Hand, bid: number | undefined): Promise<unknown> {
  return hand.berth.run('rentWithFailover', attemptsRequest(hand, bid))
}

function attemptsRequest({ chance }: Hand, bid: number | undefined): Args<'rentWithFailover'> {
  return {
    search: {
      query: { type: bid === undefined ? 'on-demand' : 'bid', verifiedOnly: false, storage: 20, limit: 300 },
      filter: {},
      order: { column: chance.pick(['price', 'score', 'reliability']), descending: false },
    },
    request: request(chance.pick(['ssh', 'none']), bid),
    limits: {
      attempts: chance.integer(2, 6),
      ceiling: chance.pick([0.05, 0.5, 2]),
      deadline: chance.pick([1200, 3600, 7200]),
      ...(chance.happens(0.5) ? { price: 1 } : {}),
    },
  }
}

async function rent({ berth, chance }: Hand, bid: number | undefined): Promise<unknown> {
  const type = bid === undefined ? 'on-demand' : 'bid'
  const { offers } = await berth.run('searchOffers', {
    query: { type, verifiedOnly: false, storage: 20, limit: 300 },
  })
  const affordable = offers.filter(({ price = 0, minimumBid = 0 }) =>
    bid === undefined ? price < 600_000 : minimumBid < bid * 1_000_000,
  )
  const offer = chance.oneOf(affordable)
  return offer && berth.run('rent', { request: { ...request('none', bid), offer: offer.id } })
}

function request(access: RentRequest['access'], bid: number | undefined): Omit<RentRequest, 'offer'> {
  return {
    image: 'pytorch/pytorch',
    access,
    disk: 20,
    env: [{ name: 'TOKEN', value: 'secret', secret: true }],
    ports: [],
    ...(bid === undefined ? {} : { bid }),
  }
}
