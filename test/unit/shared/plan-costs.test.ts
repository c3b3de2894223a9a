import { describe, expect, test } from 'vitest'
import type { Limit } from '#shared/automation/limit.ts'
import { planCosts, trafficInPlan, volumePrice } from '#shared/project/plan-costs.ts'
import { waitingForPlanWords } from '#shared/project/project.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { micros } from '#shared/spending/money.ts'

const offer = { id: 1, storageCost: 0.144 } as const
const other = { id: 2, storageCost: 0.288 } as const
const hours = (count: number): Limit => ({
  when: { kind: 'duration', seconds: count * 3600 },
  action: 'stop',
  asleep: false,
})
const dollars = (amount: number): Limit => ({
  when: { kind: 'cost', dollars: amount },
  action: 'stop',
  asleep: false,
})
/** GB of a disk of which three days cost about a dime on the first offer. */
const disk = 7
/** The cost of that in all, micro-dollars. */
const kept = { first: 100_800, other: 201_600 }
const planOf = (spec: Partial<ProjectSpec>, limits: Limit[]) => ({
  spec: { run: 'true', disk, ...spec },
  offer,
  offers: [
    { offer, price: micros(0.16) },
    { offer: other, price: micros(0.32) },
  ],
  pricePerHour: micros(0.16),
  limits,
})

describe('what a plan costs at most', () => {
  test('includes traffic, whose price is named where it has one', () => {
    const plan = (limits: Limit[], upCost?: number) => {
      const priced = { ...offer, upCost, downCost: 0.002 }
      return planCosts({
        ...planOf({}, limits),
        offer: priced,
        offers: [{ offer: priced, price: micros(0.16) }],
      })
    }
    expect(trafficInPlan(plan([hours(2)], 0.01) ?? {})).toBe('Traffic counts into that, at up to $0.010/GB.')
    expect(trafficInPlan(plan([], 0.01) ?? {})).toBe('Traffic costs extra, up to $0.010/GB.')
    expect(plan([])?.traffic).toBe(0.002)
    expect(trafficInPlan(planCosts(planOf({}, [hours(2)])) ?? {})).toBeUndefined()
  })

  test('is the tighter limit and the failed attempts, and says so', () => {
    expect(planCosts(planOf({}, [hours(2), dollars(2)]))).toMatchObject({
      most: micros(1.352) + kept.first,
      keptCost: kept.first,
      longest: 7200,
      why: '$0.35 for 2 h at up to $0.176/h, plus up to $1.00 for failed attempts, and $0.10 for 3 d of disk if it fails',
    })
    expect(planCosts(planOf({ outbid: { elsewhere: 2 } }, [hours(2)]))).toMatchObject({
      most: micros(3 * 1.352) + kept.first,
      longest: 3 * 7200,
      why: '$0.35 for 2 h at up to $0.176/h, plus up to $1.00 for failed attempts, on each of 3 machines, and $0.10 for 3 d of disk if it fails',
    })
  })

  test('is the limit in dollars, with failed attempts and machines elsewhere', () => {
    const why = 'your limit of $2.00, failed attempts included, and $0.10 for 3 d of disk if it fails'
    for (const spec of [{}, { outbid: { elsewhere: 2 } }])
      expect(planCosts(planOf(spec, [hours(20), dollars(2)]))).toMatchObject({
        most: micros(2) + kept.first,
        why,
      })
  })

  test('is that of the offer and the stops that were chosen', () => {
    const plan = planOf({}, [dollars(2)])
    expect(planCosts(plan, { limits: [hours(1)], offer: 2 })).toMatchObject({
      price: micros(0.32),
      most: micros(1.352) + kept.other,
    })
    const without = planCosts(plan, { limits: [] })
    expect([without?.most, without?.longest]).toEqual([undefined, undefined])
  })

  test('counts a new volume until the end, by the price of its machine’s disk', () => {
    const volume = { name: 'datasets', at: '/data', size: 500 }
    const plan = { ...planOf({}, [hours(2)]), volume }
    expect(planCosts(plan)).toMatchObject({
      most: micros(1.552) + kept.first,
      volumeCost: micros(0.2),
      why: '$0.35 for 2 h at up to $0.176/h, plus up to $1.00 for failed attempts, and $0.10 for 3 d of disk if it fails, and about $0.20 for the new volume',
    })
    expect(planCosts(plan, { limits: [hours(2)], offer: 2 })?.most).toBe(micros(2.104) + kept.other)
    // One that exists is paid for anyway, and one without a price can't be counted.
    const there = { ...volume, id: 7, costPerHour: micros(0.1) }
    expect(planCosts({ ...plan, volume: there })?.most).toBe(micros(1.352) + kept.first)
    expect(volumePrice(there, offer)).toBe(micros(0.1))
    expect(planCosts({ ...plan, offer: { id: 3 } })?.most).toBe(micros(1.352))
  })

  test('of a sweep is for all its machines, and its limit in dollars counts failed attempts', () => {
    const machines = planOf({}, []).offers
    const sweep = { settings: [{}, {}, {}], atOnce: 2, waiting: [], machines }
    expect(planCosts({ ...planOf({}, [hours(2)]), sweep })).toMatchObject({
      price: micros(0.32),
      sum: micros(0.48),
      most: micros(3.408) + 2 * kept.other,
      why: '$0.70 for 2 h at up to $0.352/h, plus up to $1.00 for failed attempts, on each of 2 machines, and $0.40 for 3 d of disk if it fails',
    })
    expect(planCosts({ ...planOf({}, [hours(2), dollars(2)]), sweep })).toMatchObject({
      most: micros(2) + 2 * kept.other,
      why: 'your limit of $2.00, failed attempts included, and $0.40 for 3 d of disk if it fails',
    })
  })

  test('of a sweep counts the machines that wait, and those that may replace them', () => {
    const [machine] = planOf({}, []).offers
    const waiting = [{ instance: 4711, pricePerHour: micros(0.32), until: 0 }]
    const sweep = { settings: [{}, {}, {}], atOnce: 2, waiting, machines: machine ? [machine] : [] }
    expect(planCosts({ ...planOf({}, [hours(2)]), sweep })).toMatchObject({
      price: micros(0.32),
      sum: micros(0.48),
      most: micros(3.408),
    })
    const alone = { ...sweep, atOnce: 1, machines: [] }
    expect(planCosts({ ...planOf({}, [hours(2)]), sweep: alone })?.sum).toBe(micros(0.32))
    expect(waitingForPlanWords(waiting)).toBe('#4711 at $0.320/h is waiting, and takes the first run.')
  })

  test('of several machines is one limit for all, and attempts for each', () => {
    const nodes = planOf({}, []).offers
    const plan = { ...planOf({ nodes: 2 }, [dollars(2)]), nodes, pricePerHour: micros(0.48) }
    expect(planCosts(plan)).toMatchObject({
      sum: micros(0.48),
      most: micros(2) + kept.first,
      why: 'your limit of $2.00, failed attempts included, and $0.10 for 3 d of disk if it fails',
    })
    expect(planCosts({ ...plan, limits: [hours(1)] })).toMatchObject({
      most: micros(2.528) + kept.first,
      why: '$0.53 for 1 h at up to $0.528/h, plus up to $2.00 for failed attempts, and $0.10 for 3 d of disk if it fails',
    })
  })

  test('counts the disk for as long as the machine of a failed run is kept, if its price is known', () => {
    const plan = planOf({}, [dollars(2)])
    const keeping = { seconds: 6 * 3600, destroys: true }
    expect(planCosts(plan, { limits: plan.limits, keeping })).toMatchObject({
      disk: 1400,
      keptCost: 8400,
      most: micros(2) + 8400,
    })
    const long = { failed: { keep: 8000 * 3600 } }
    expect(planCosts(planOf(long, [dollars(2)]))?.most).toBe(micros(2) + 1400 * (8000 + 48))
    const unknown = planCosts({ ...plan, offer: { id: 3 } })
    expect([unknown?.most, unknown?.keptCost]).toEqual([micros(2), undefined])
  })

  test('of a machine that waits has no attempts', () => {
    const waiting = { instance: 4711, pricePerHour: micros(0.1), until: 0 }
    expect(planCosts({ ...planOf({}, [hours(2)]), waiting })).toMatchObject({
      most: micros(0.2),
      why: '$0.20 for 2 h at up to $0.100/h',
    })
  })
})
