import { expect, test } from 'vitest'
import { Recoveries, type RecoveryRentals } from '#core/recoveries/perform.ts'
import { givesWay } from '#core/recoveries/step.ts'
import type { Rentals } from '#core/renting/rentals.ts'
import { deferred } from '#platform/tasks.ts'
import type { ServiceClient } from '#service/client.ts'
import type { Instance } from '#service/instances.ts'
import { ServiceError } from '#service/service-error.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'

const refusal = (status: number) => new ServiceError({ code: 'refused', status, message: '', advice: '' })
const limits = { attempts: 3, ceiling: 1, deadline: 600 }
const replace = { kind: 'replace', ceiling: 2, every: 60, limits } as const
const outbid = instanceView({
  state: 'outbid',
  intendedStatus: 'running',
  interruptible: true,
  bid: 100_000,
  minimumBid: 200_000,
  gpu: { name: 'RTX 4090', count: 1 },
})

/** The rental of this Berth’s replacement. */
const ownMark = 'r0000000000000001'

/** An instance that was rented at `start` to replace the outbid one. */
const replacement = (id: number, start: number, mark = 'r0000000000000002') =>
  ({
    id,
    start_date: start,
    extra_env: [
      ['BERTH_REPLACES', String(outbid.id)],
      ['BERTH_RENTAL', mark],
    ],
  }) as unknown as Instance

/**
 * The recoveries of an account with one outbid instance. The rental of a replacement exists after `starting`, and its
 * end is on disk after `written`.
 */
async function outbidOnce(
  starting = async () => undefined,
  written = async () => undefined,
  ofInstance: RecoveryRentals['ofInstance'] = () => undefined,
) {
  const bids: number[] = []
  const limits: number[] = []
  const { said: told, ...noted } = noting()
  const refusals: ServiceError[] = []
  const records: Instance[] = []
  let time = 1000
  let step: 'trying' | 'ready' | 'cancelled' | undefined
  let place = 4712
  const rentals: RecoveryRentals = {
    ofInstance,
    knows: mark => mark === ownMark,
    async start(_request, id = '') {
      await starting()
      step = 'trying'
      return id
    },
    async cancel() {
      step = 'cancelled'
    },
    flush: written,
    find: () =>
      step
        ? ({ step, attempts: [{ instance: place }], instance: place } as unknown as ReturnType<
            Rentals['find']
          >)
        : undefined,
  }
  const context = accountContext({
    client: () =>
      ({
        instances: {
          stop: async (id: number) => void limits.push(id),
          async changeBid(_id: number, price: number) {
            bids.push(price)
            const refusal = refusals.shift()
            if (refusal) throw refusal
          },
        },
      }) as unknown as ServiceClient,
    now: () => time,
    ...noted,
  })
  const recoveries = await Recoveries.open(context, rentals)
  const see = async (...all: InstanceView[]) => {
    recoveries.onPoll(freshAnswer(context, Object.fromEntries(all.map(one => [one.id, one])), records))
    await flushPromises()
  }
  return {
    recoveries,
    poll: (...all: InstanceView[]) => see(...(all.length > 0 ? all : [outbid])),
    pollNothing: () => see(),
    view: () => context.store.get().accounts[account]?.recoveries ?? {},
    bids,
    limits,
    told,
    refusals,
    records,
    pass: (seconds: number) => (time += seconds),
    step: () => step,
    cancel: () => (step = 'cancelled'),
    ready: (by = 4712) => {
      step = 'ready'
      place = by
    },
  }
}

/** With a replacement being rented. */
async function replacing() {
  const under = await outbidOnce()
  await under.recoveries.choose(outbid, replace)
  await under.poll()
  expect(under.step()).toBe('trying')
  return under
}

test('what a rental with retries still tries is neither raised nor replaced', async () => {
  const rental = { step: 'trying', retries: {}, search: {} }
  const found = () => ({ rental }) as unknown as ReturnType<RecoveryRentals['ofInstance']>
  const { recoveries, poll, bids, step, pass } = await outbidOnce(undefined, undefined, found)
  await recoveries.recoverRental(outbid.id, { kind: 'raise', ceiling: 1, every: 30 })
  await poll()
  expect(bids).toEqual([])
  rental.step = 'ready'
  pass(60)
  await poll()
  expect(bids).toHaveLength(1)
  expect(step()).toBeUndefined()
})

test('a choice that was made with the rental is set once, and replaces none', async () => {
  const { recoveries, poll, view } = await outbidOnce()
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 30 })
  await recoveries.recoverRental(outbid.id, replace)
  await poll()
  expect(view()[outbid.id]?.choice.kind).toBe('raise')
})

test('another choice while a replacement is being rented takes effect', async () => {
  const { recoveries, bids, poll, view } = await replacing()
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 0 })
  await poll()
  await poll()
  expect(view()[outbid.id]?.choice.kind).toBe('raise')
  expect(bids).toHaveLength(1)
})

test('a replacement that the user cancels is not rented again', async () => {
  const { poll, cancel, view } = await replacing()
  cancel()
  await poll()
  await poll()
  expect(view()[outbid.id]).toMatchObject({ choice: { kind: 'tell' }, step: 'watching' })
})

test('a younger replacement gives way to that of another Berth, which takes over', async () => {
  const { records, poll, step, view } = await replacing()
  records.push(replacement(4712, 200, ownMark), replacement(4800, 100))
  await poll()
  expect(step()).toBe('cancelled')
  await poll()
  expect(view()[outbid.id]).toMatchObject({ step: 'replaced', by: 4800, choice: { kind: 'replace' } })
})

test('a replacement that is older than that of another Berth stays', async () => {
  const { records, poll, step } = await replacing()
  records.push(replacement(4712, 100, ownMark), replacement(4800, 200))
  await poll()
  expect(step()).toBe('trying')
})

test('no replacement is rented where another Berth has rented one', async () => {
  const { recoveries, records, poll, step, view } = await outbidOnce()
  records.push(replacement(4800, 100))
  await recoveries.choose(outbid, replace)
  await poll()
  expect([step(), view()[outbid.id]?.by]).toEqual([undefined, 4800])
})

test('a replacement is cancelled once the instance it replaces is gone', async () => {
  const { pollNothing, step, view } = await replacing()
  for (const expected of ['trying', 'cancelled']) {
    await pollNothing()
    expect(step()).toBe(expected)
  }
  expect(view()).toEqual({})
})

test('a replacement is cancelled once a limit has stopped the instance it replaces', async () => {
  const { poll, step } = await replacing()
  await poll({ ...outbid, state: 'stopped', stateRequest: { state: 'stopped', at: 1000 } })
  expect(step()).toBe('cancelled')
})

test('a replacement takes over only once the end of its rental is on disk', async () => {
  const written = deferred<undefined>()
  const { recoveries, poll, ready, view } = await outbidOnce(undefined, () => written.promise)
  await recoveries.choose(outbid, replace)
  await poll()
  ready()
  await poll()
  expect(view()[outbid.id]?.step).toBe('replacing')
  written.resolve(undefined)
  await flushPromises()
  expect(view()[outbid.id]).toMatchObject({ step: 'replaced', by: 4712 })
})

test('a replaced instance keeps running if you start it, and stops if the service starts it', async () => {
  const { poll, ready, limits, view } = await replacing()
  ready()
  await poll()
  const back: InstanceView = { ...outbid, state: 'provisioning' }
  await poll(back)
  expect(limits).toEqual([outbid.id])
  await poll({ ...back, stateRequest: { state: 'running', at: 1001 } })
  await poll({ ...back, state: 'running' })
  expect(limits).toEqual([outbid.id])
  expect(view()[outbid.id]).toMatchObject({ choice: replace, step: 'watching' })
})

test('a replacement’s own cost counts once it is replaced, the first instance’s does not', async () => {
  const { poll, ready, pass, view } = await replacing()
  const costs = (micros: number) => ({ micros, at: 0, perHour: 0 })
  const first = { ...outbid, spent: costs(900_000) }
  const second = { ...outbid, id: 4712, spent: costs(300_000) }
  ready()
  await poll(first)
  expect(view()[4712]).toMatchObject({ of: outbid.id, replacements: 1, replacedCost: 0 })
  pass(60)
  const stopped: InstanceView = { ...first, state: 'stopped' }
  await poll(stopped, second)
  ready(4713)
  await poll(stopped, second)
  expect(view()[4713]).toMatchObject({ of: 4712, replacements: 2, replacedCost: 300_000 })
})

test('choosing only an alert while a replacement starts cancels it', async () => {
  const begun = deferred<undefined>()
  const { recoveries, poll, step, view } = await outbidOnce(() => begun.promise)
  await recoveries.choose(outbid, replace)
  await poll()
  await recoveries.choose(outbid, { kind: 'tell' })
  begun.resolve(undefined)
  await flushPromises()
  expect(step()).toBe('cancelled')
  await poll()
  expect(view()[outbid.id]).toMatchObject({ choice: { kind: 'tell' }, step: 'watching' })
})

test('a raise refused by a busy service is retried soon, reported once and not counted', async () => {
  const { recoveries, bids, told, refusals, poll, pass, view } = await outbidOnce()
  refusals.push(refusal(429), refusal(503))
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 3600 })
  await poll()
  await poll()
  expect(bids).toHaveLength(1)
  for (const attempts of [2, 3]) {
    pass(30)
    await poll()
    await poll()
    expect(bids).toHaveLength(attempts)
  }
  await poll({ ...outbid, state: 'running', bid: 210_000 })
  expect(told).toEqual(['RTX 4090 #4711: not recovered', 'RTX 4090 #4711: raised the bid to $0.210/h'])
  expect(view()[outbid.id]?.raises).toBe(1)
})

test('a raise that the service answers and carries out wrongly is asked for again, and told once it is right', async () => {
  const { recoveries, bids, told, poll, pass } = await outbidOnce()
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 3600 })
  await poll()
  await poll()
  expect([bids, told]).toEqual([[0.21], []])
  // It had no effect.
  pass(30)
  await poll()
  expect(bids).toEqual([0.21, 0.21])
  // Ten times as much, once and again.
  const dear = { ...outbid, state: 'running', bid: 2_100_000 } as const
  await poll(dear)
  pass(30)
  await poll(dear)
  expect([bids, told]).toEqual([[0.21, 0.21, 0.21], []])
  await poll({ ...dear, bid: 210_000 })
  pass(30)
  await poll({ ...dear, bid: 210_000 })
  expect([bids.length, told]).toEqual([3, ['RTX 4090 #4711: raised the bid to $0.210/h']])
})

test('a bid that stays higher than asked for is left after ten minutes', async () => {
  const { recoveries, bids, poll, pass } = await outbidOnce()
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 3600 })
  await poll()
  const dear = { ...outbid, state: 'running', bid: 2_100_000 } as const
  for (let polls = 0; polls < 60; polls++) {
    pass(30)
    await poll(dear)
  }
  expect(bids).toHaveLength(20)
})

test('a refused raise is retried only after its interval', async () => {
  const { recoveries, bids, refusals, poll, pass } = await outbidOnce()
  refusals.push(refusal(400))
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 3600 })
  await poll()
  pass(3599)
  await poll()
  expect(bids).toHaveLength(1)
  pass(1)
  await poll()
  expect(bids).toHaveLength(2)
})

test('a raise refused for its key is retried after minutes, whatever its interval', async () => {
  const { recoveries, bids, told, refusals, poll, pass } = await outbidOnce()
  refusals.push(refusal(403), refusal(401))
  await recoveries.choose(outbid, { kind: 'raise', ceiling: 1, every: 36_000 })
  await poll()
  for (const attempts of [2, 3]) {
    pass(299)
    await poll()
    expect(bids).toHaveLength(attempts - 1)
    pass(1)
    await poll()
    expect(bids).toHaveLength(attempts)
  }
  await poll({ ...outbid, state: 'running', bid: 210_000 })
  expect(told).toEqual(['RTX 4090 #4711: not recovered', 'RTX 4090 #4711: raised the bid to $0.210/h'])
})

const at = (id: number, start: number) => ({ id, start_date: start })

test('of two that started at once the one with the higher id gives way', () => {
  expect(givesWay(at(2, 100), at(1, 100))).toBe(true)
  expect(givesWay(at(1, 100), at(2, 100))).toBe(false)
})
