import { isDead } from '../../../../electron/contract/reading.ts'
import { anInstance, type Hand, type UserAction } from './hand.ts'

/** Actions on instances in Berth, in the service's console and by the world, and payments. */
export const handiwork: readonly UserAction[] = [
  {
    name: 'stopped by the user',
    weight: 1,
    do(hand) {
      const instance = anInstance(hand, ({ state }) => state === 'running')
      return instance && hand.berth.run('stopInstance', { instance: instance.id })
    },
  },
  {
    name: 'started by the user',
    weight: 2,
    do(hand) {
      const instance = anInstance(hand, ({ state }) => state === 'stopped')
      return instance && hand.berth.run('startInstance', { instance: instance.id })
    },
  },
  {
    name: 'destroyed by the user',
    weight: 4,
    do(hand) {
      const instance = anInstance(
        hand,
        one => isDead(one) || one.state === 'stopped' || hand.chance.happens(0.05),
      )
      return instance && hand.berth.run('destroyInstance', { instance: instance.id })
    },
  },
  {
    name: 'bids by the user',
    weight: 1,
    do(hand) {
      const instance = anInstance(hand, ({ interruptible }) => interruptible)
      const price = Math.round(hand.chance.between(0.1, 1) * 1000) / 1000
      return instance && hand.berth.run('changeBid', { instance: instance.id, price })
    },
  },
  {
    name: 'stopped elsewhere',
    weight: 1,
    do(hand) {
      const instance = anInstance(hand, ({ state }) => state === 'running' || state === 'loading')
      return instance && hand.elsewhere.stop(instance.id)
    },
  },
  {
    name: 'destroyed elsewhere',
    weight: 1,
    do(hand) {
      const instance = anInstance(hand, () => true)
      return instance && hand.elsewhere.destroy(instance.id)
    },
  },
  {
    name: 'rented elsewhere',
    weight: 1,
    do: hand => (hand.byHand.size > 4 ? undefined : rentElsewhere(hand)),
  },
  {
    name: 'outbid',
    weight: 3,
    do(hand) {
      const instance = anInstance(hand, ({ interruptible, state }) => interruptible && state === 'running')
      return instance && hand.sim.controls.outbid(instance.id)
    },
  },
  {
    name: 'hosts died',
    weight: 1,
    do(hand) {
      const instance = anInstance(hand, ({ state }) => state === 'running' || state === 'loading')
      const status = hand.chance.pick(['exited', 'offline', 'unknown'])
      return instance && hand.sim.controls.forceStatus(instance.id, status)
    },
  },
  {
    name: 'top-ups',
    weight: 2,
    do: hand => {
      const { credit = 0 } = hand.account
      return credit > hand.chance.between(8, 60) * 1_000_000 ? undefined : topUp(hand)
    },
  },
]

/** Pays mostly round sums, as people do. */
async function topUp({ berth, sim, chance, timeline }: Hand): Promise<void> {
  // A Berth about to die may notice it hours later, when an odd sum cannot be separated from spending.
  const isOdd = !berth.isDoomed && chance.happens(0.15)
  const dollars = isOdd ? chance.integer(300, 8000) / 100 : chance.pick([5, 10, 25, 50, 100])
  timeline.paidIn(dollars, isOdd)
  sim.controls.topUp(dollars)
}

async function rentElsewhere({ berth, chance, elsewhere, byHand }: Hand): Promise<void> {
  const query = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 } as const
  const { offers } = await berth.run('searchOffers', { query })
  const offer = chance.oneOf(offers.filter(({ price = 0 }) => price < 300_000))
  const instance = offer && (await elsewhere.rent(offer.id))
  if (instance !== undefined) byHand.add(instance)
}
