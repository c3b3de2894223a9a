import { describe, expect, test } from 'vitest'
import { accountNow } from '#shared/derived.ts'
import { waitWords } from '#shared/project/afterwards.ts'
import { planCosts } from '#shared/project/plan-costs.ts'
import { requestCheapest } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject, write } from './place.ts'

describe.skipIf(noSshd)(`a run without an offer within its price${noSshd}`, () => {
  test('waits for one as its file says, shows what it would take now, and begins once there is one', async () => {
    const { under, folder, project, runProject } = await openProject({
      'berth.yaml': 'machine: { gpu: RTX 4090, price: 5 }\nrun: echo done\n',
    })
    const [cheapest, next] = (await under.run('planProject', { project })).offers
    if (!cheapest || !next) throw new Error('There are no two offers to choose from.')
    expect(next.price).toBeGreaterThan(cheapest.price)
    // Someone else has the only one within its price.
    await under.run('rent', { request: { ...(await requestCheapest(under)), offer: cheapest.offer.id } })
    await under.until(() => Object.keys(under.account().instances).length === 1)
    const price = (cheapest.price + next.price) / 2_000_000
    write(folder, {
      'berth.yaml': `machine: { gpu: RTX 4090, price: ${price} }\nwait: 12h\nrun: echo done\nstop: { hours: 1 }\n`,
    })

    const plan = await under.run('planProject', { project })
    expect(plan).toMatchObject({ offers: [], above: { price: next.price } })
    expect(waitWords(plan)).toEqual([expect.stringContaining('The run waits for one, at most 12 h')])
    const costs = planCosts(plan)
    expect(costs?.most).toBeGreaterThan(price * 1_000_000)
    const id = await runProject()
    const job = () => jobOf(under, id)
    await under.until(() => job()?.waiting?.givesUpAt !== undefined)
    const { since = 0, problem, nextTryAt = 0, givesUpAt = 0 } = job()?.waiting ?? {}
    expect(problem?.message).toContain('The cheapest one costs $')
    expect(nextTryAt).toBeGreaterThan(since)
    expect(givesUpAt - since).toBe(12 * 3600)
    // It waits, so nothing says that it has failed.
    const account = Object.keys(under.berth.state().accounts)[0]
    expect(Object.values(under.account().rentals).filter(({ step }) => step === 'failed')).toEqual([])
    expect(
      Object.keys(under.berth.state().notices).filter(id => id.startsWith(`${account}/rental/`)),
    ).toEqual([])

    const [other = 0] = Object.keys(under.account().instances).map(Number)
    await under.run('destroyInstance', { instance: other })
    await under.until(() => job()?.step === 'done')
    expect(job()?.cost.micros).toBeLessThan(costs?.most ?? 0)
  })

  test('gives up at the end of its time, and can be cancelled before', async () => {
    const { world, under, runProject } = await openProject({
      'berth.yaml': 'machine: { gpu: RTX 4090, price: 0.001 }\nwait: 1h\nrun: echo done\n',
    })
    const id = await runProject()
    const job = () => jobOf(under, id)
    await under.until(() => job()?.waiting?.givesUpAt !== undefined)
    await world.sim.controls.advance(3600)
    await under.until(() => job()?.step === 'failed')
    expect(job()?.problem).toMatchObject({
      code: 'no_offers',
      message: 'No offer fit within its price in 1 h.',
    })
    await under.run('retryRun', { run: id })
    await under.until(() => job()?.waiting?.givesUpAt !== undefined)
    await under.run('cancelRun', { run: id })
    await under.until(() => job()?.step === 'cancelled')
    expect(Object.keys(under.account().instances)).toEqual([])
  })

  test('begins at its time, again on the next day, and lets its project run meanwhile', async () => {
    const { world, under, project, runProject } = await openProject({
      'berth.yaml': 'machine: { gpu: RTX 4090, price: 5 }\nstart: daily 02:00\nrun: echo done\n',
    })
    const startOf = (id: string) => jobOf(under, id)?.waiting
    const cancelled = await runProject()
    await under.until(() => startOf(cancelled)?.for === 'time')
    // A second one would double each night's bill.
    await expect(runProject()).rejects.toMatchObject({ problem: { code: 'already_daily' } })
    await under.run('cancelRun', { run: cancelled })
    const first = await runProject()
    await under.until(() => startOf(first)?.for === 'time')
    const { nextTryAt: startsAt = 0 } = startOf(first) ?? {}
    expect(new Date(startsAt * 1000).getHours()).toBe(2)
    expect(Object.keys(under.account().instances)).toEqual([])
    const { clock } = under.account()
    await world.sim.controls.advance(startsAt - (clock ? accountNow(clock, clock.localAt) : 0) + 60)
    await under.until(() => jobOf(under, first)?.step === 'done')
    // Nothing follows the one that was cancelled.
    const waits = () => Object.values(under.account().runs).filter(({ waiting }) => waiting?.for === 'time')
    await under.until(() => waits().length === 1)
    const [next] = waits()
    expect((next?.waiting?.nextTryAt ?? 0) - startsAt).toBeGreaterThanOrEqual(23 * 3600)
    expect(next).toMatchObject({ project, step: 'waiting' })
  })
})
