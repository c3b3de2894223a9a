import type { OfferView } from '#shared/market/offer.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import { creates, instancesOf, requestCheapest } from '#test/berth/steps.ts'
import { type BerthUnderTest, test as base } from '#test/berth/world.ts'

const replace = {
  kind: 'replace',
  ceiling: 30,
  every: 60,
  limits: { attempts: 3, ceiling: 5, deadline: 3600 },
} as const

/** The interruptible offers, cheapest first. */
async function market({ run }: BerthUnderTest): Promise<readonly OfferView[]> {
  const query = { type: 'bid', verifiedOnly: false, storage: 20, limit: 2000 } as const
  return (await run('searchOffers', { query })).offers
}

const isAsGood = (offer: OfferView, as: OfferView) =>
  offer.machineId !== as.machineId &&
  offer.verified === true &&
  (offer.reliability ?? 0) >= (as.reliability ?? 1)

type Wanted = (offer: OfferView, others: OfferView[]) => boolean

/** Worlds with a running interruptible instance of a wanted offer. */
const test = base.extend('rented', ({ connected }) => async (wanted: Wanted) => {
  const { world, under } = await connected({ offers: 500 })
  const offers = await market(under)
  const like = (one: OfferView) =>
    offers.filter(
      other =>
        other.gpuName === one.gpuName && other.gpuCount === one.gpuCount && other.machineId !== one.machineId,
    )
  // Else another part of the same machine, which nobody was outbid for, is as good.
  const isAlone = ({ machineId }: OfferView) =>
    offers.filter(other => other.machineId === machineId).length === 1
  const offer = offers.find(each => each.verified && isAlone(each) && wanted(each, like(each)))
  if (!offer) throw new Error('the market has no such kind')
  const search: SavedQuery = {
    query: { type: 'bid', verifiedOnly: true, storage: 20, limit: 10_000 },
    filter: {},
  }
  const bid = (offer.minimumBid ?? 0) / 1_000_000 + 0.01
  await under.run('rent', { request: await requestCheapest(under, { offer: offer.id, bid }), search })
  await under.until(() => instancesOf(under)[0]?.state === 'running')
  return { world, under, offers, offer, instance: instancesOf(under)[0]?.id ?? 0 }
})

/** Its cheapest alternative is worse, a dearer one is as good. */
const behindWorse = (offer: OfferView, others: OfferView[]) =>
  others[0] !== undefined && !isAsGood(others[0], offer) && others.some(each => isAsGood(each, offer))

/** None of its alternatives is as good. */
const bestOfAll = (offer: OfferView, others: OfferView[]) =>
  others.length > 0 && !others.some(each => isAsGood(each, offer))

test.concurrent('an outbid machine is replaced by one as verified and reliable, not the cheapest', async ({
  rented,
  expect,
}) => {
  const { world, under, offers, offer, instance } = await rented(behindWorse)
  await under.run('chooseRecovery', { instance, choice: replace })
  await world.sim.controls.outbid(instance)
  await under.until(() => under.account().recoveries[instance]?.by !== undefined)
  const by = under.account().instances[under.account().recoveries[instance]?.by ?? 0]
  const machine = offers.find(({ machineId }) => machineId === by?.machineId)
  expect(machine && isAsGood(machine, offer)).toBe(true)
})

test.concurrent('rents nothing if no offer is as good, and says so once', async ({ rented, expect }) => {
  const { world, under, instance } = await rented(bestOfAll)
  await under.run('chooseRecovery', { instance, choice: replace })
  await world.sim.controls.outbid(instance)
  await under.until(() => under.account().recoveries[instance]?.problem !== undefined)
  expect(under.account().recoveries[instance]?.problem).toMatchObject({
    code: 'nothing_as_good',
    message: expect.stringMatching(
      /^No offer is as good as #\d+: a verified host, .*% reliable, .* bid of at most \$30/,
    ),
  })
  // It keeps searching and says so once.
  await world.sim.controls.advance(120)
  const searches = () => world.requests('POST', '/bundles/').length
  const before = searches()
  await expect.poll(searches).toBeGreaterThan(before)
  await under.until(() => under.account().recoveries[instance]?.rental === undefined)
  const told = world.notifier.shown.filter(({ title }) =>
    /not recovered|nothing could be rented/i.test(title),
  )
  expect(told).toHaveLength(1)
  expect(creates(world)).toBe(1)
})

test.concurrent('the user sees what a replacement must meet, and can drop requirements', async ({
  rented,
  expect,
}) => {
  const { under, offer, instance } = await rented(bestOfAll)
  const strict = await under.run('findReplacement', { instance })
  expect(strict.offer).toBeUndefined()
  expect(strict.search).toMatchObject({
    query: { verifiedOnly: true },
    filter: { gpus: [offer.gpuName], countFrom: offer.gpuCount, reliabilityFrom: offer.reliability },
  })
  const loose = await under.run('findReplacement', { instance, without: ['verified', 'reliability'] })
  expect(loose.offer).toMatchObject({ gpuName: offer.gpuName, gpuCount: offer.gpuCount })
  expect(loose.offer?.machineId).not.toBe(offer.machineId)
  expect(loose.search).toEqual(strict.search)
})
