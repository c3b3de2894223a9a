import { isDead } from '../../../../electron/contract/reading.ts'
import { anInstance, type Deed, type Hand } from './hand.ts'

/** What is done to instances: in Berth, in the service's console, and by the world itself. */
export const handiwork: readonly Deed[] = [
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
    do({ account, sim, chance }) {
      const { credit = 0 } = account
      if (credit > chance.between(8, 40) * 1_000_000) return undefined
      return Promise.resolve(sim.controls.topUp(chance.pick([25, 50, 100])))
    },
  },
]

async function rentElsewhere({ berth, chance, elsewhere, byHand }: Hand): Promise<void> {
  const query = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 } as const
  const { offers } = await berth.run('searchOffers', { query })
  const offer = chance.oneOf(offers.filter(({ price = 0 }) => price < 300_000))
  const instance = offer && (await elsewhere.rent(offer.id))
  if (instance !== undefined) byHand.add(instance)
}
