import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { deferred } from '#platform/tasks.ts'
import { creditUnknownWords, isContractOver } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { spendWords } from '#shared/spending/spend-words.ts'
import { startOnBareService } from '#test/berth/bare-services.ts'
import { setLimit } from '#test/berth/steps.ts'
import { write } from './projects/place.ts'

const query = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 64 } as const
const request = { image: 'pytorch/pytorch', access: 'ssh' as const, disk: 20, env: [], ports: [] }

/** Three running instances of unknown cost, and a limit on the credit. */
async function limited(context: TestContext) {
  const { service, under } = await startOnBareService(context)
  for (const id of [1, 2, 3]) service.instances.set(id, 'running')
  await under.run('refresh', {})
  await setLimit(under, { when: { kind: 'credit', hours: 6 } })
  const credit = async (dollars: number) => {
    service.user = { ...service.user, credit: dollars }
    await under.run('refresh', {})
  }
  return { service, under, credit, limit: () => Object.values(under.account().limits)[0] }
}

test('without prices a limit says that it cannot see the spending, and acts by the fall of the credit', async context => {
  const { service, under, credit, limit } = await limited(context)
  await credit(10)
  expect(spendWords(under.account())).toBe('unknown')
  expect(limit()?.problem?.code).toBe('spending_unseen')
  expect(limit()?.dueAt).toBeUndefined()
  await credit(9.5)
  expect(service.stopped).toEqual([])
  await credit(7)
  await expect.poll(() => service.stopped).toEqual([1, 2, 3])
})

test('without prices a limit on the credit stops running instances once no credit is left', async context => {
  const { service, under } = await startOnBareService(context)
  service.user = { ...service.user, credit: 0 }
  service.instances.set(1, 'running')
  await under.run('refresh', {})
  await setLimit(under, { when: { kind: 'credit', hours: 6 } })
  await under.run('refresh', {})
  await expect.poll(() => service.stopped).toEqual([1])
})

test.for([0, -1_000_000, 1_000_000])(
  'a credit of %s that is told once counts for nothing',
  async (odd, context) => {
    const { service, under, credit } = await limited(context)
    await credit(10)
    const right = service.user
    const answers = [{ ...right, credit: odd }]
    Object.defineProperty(service, 'user', { get: () => answers.shift() ?? right })
    await under.run('refresh', {})
    expect(answers).toEqual([])
    const { days } = await under.run('moneyHistory', { from: 0, samples: 100, days: 2 })
    expect(under.account().credit).toBe(10_000_000)
    expect(days.map(({ spent, toppedUp }) => [spent, toppedUp])).toEqual([[0, 0]])
    expect(service.stopped).toEqual([])
  },
)

test('answers for another user are none for this account, and it goes on with its own', async context => {
  const { service, under } = await limited(context)
  const { credit } = under.account()
  service.user = { ...service.user, id: 8, credit: 25 }
  service.instances.clear()
  service.instances.set(9, 'running')
  for (let polls = 0; polls < 4; polls += 1) await under.run('refresh', {}).catch(() => undefined)
  const { connection, instances, userId, credit: shown } = under.account()
  expect(connection).toMatchObject({ status: 'offline', answered: 200, problem: { code: 'other_user' } })
  expect(connection).toMatchObject({ problem: { message: expect.stringContaining('user 8 instead of 7') } })
  expect([Object.keys(instances), userId, shown]).toEqual([['1', '2', '3'], 7, credit])
  service.user = { ...service.user, id: 7, credit: 10 }
  service.instances.clear()
  for (const id of [1, 2, 3]) service.instances.set(id, 'running')
  await under.run('refresh', {})
  expect(under.account().connection.status).toBe('online')
  expect(under.texts().filter(text => text.includes('gone') || text.includes('again'))).toHaveLength(1)
  expect([service.stopped, service.destroyed]).toEqual([[], []])
})

test('nothing is sent that concerns another account, and a stop waits until the service answers for this one', async context => {
  const { service, under } = await limited(context)
  service.offers = [101]
  service.user = { ...service.user, id: 8 }
  await under.run('refresh', {}).catch(() => undefined)
  const other = { problem: { code: 'other_user' } }
  const sent = [
    () => under.run('stopInstance', { instance: 1 }),
    () => under.run('destroyInstance', { instance: 2 }),
    () => under.run('startInstance', { instance: 3 }),
    () => under.run('renameInstance', { instance: 3, label: 'mine' }),
    () => under.run('changeBid', { instance: 3, price: 1 }),
  ]
  for (const command of sent) await expect(command()).rejects.toMatchObject(other)
  const rental = await under.run('rent', { request: { ...request, offer: 101 } })
  await under.until(() => under.account().rentals[rental]?.problem?.code === 'other_user')
  expect([service.stopped, service.destroyed, service.rented]).toEqual([[], [], []])
  expect(under.account().endings[1]).toMatchObject({
    action: 'stop',
    problem: expect.stringContaining('user 8'),
  })
  service.user = { ...service.user, id: 7 }
  await under.run('refresh', {})
  await under.run('stopInstance', { instance: 1 })
  await expect.poll(() => [service.stopped, service.destroyed], { timeout: 20_000 }).toEqual([[1], [2]])
  expect(service.rented).toEqual([])
})

test('after a start nothing is sent until the service has shown for whose account it answers', async context => {
  const { service, home, under, start } = await startOnBareService(context)
  service.instances.set(1, 'running')
  await under.run('refresh', {})
  await under.close()
  service.user = { ...service.user, id: 8 }
  const answering = deferred<void>()
  service.held = answering.promise
  const later = await start()
  const refused = expect(later.run('stopInstance', { instance: 1 })).rejects.toMatchObject({
    problem: { code: 'other_user' },
  })
  // What is written last before a stop is sent.
  const seen = join(home, 'berth', 'accounts', later.account().id, 'last-seen.json')
  await expect.poll(() => readFileSync(seen, 'utf8')).toContain('stateRequest')
  answering.resolve()
  await refused
  expect(service.stopped).toEqual([])
})

test('an offer with only an id is rented at an unknown cost', async context => {
  const { service, under } = await startOnBareService(context)
  service.offers = [101, 102]
  await under.run('searchOffers', { query, filter: {} })
  await under.run('rent', { request: { ...request, offer: 101 } })
  await under.until(() => under.account().instances[1101]?.state === 'running')
  expect(service.rented).toEqual([101])
  expect(under.account().instances[1101]?.costUnknown).toBe(true)
})

test('rentals with retries rent nothing at an unknown price, and say so', async context => {
  const { service, under } = await startOnBareService(context)
  service.offers = [101, 102]
  const order = { column: 'price', descending: false } as const
  const limits = { attempts: 3, ceiling: 1, deadline: 600, price: 2 }
  await under.run('rentWithRetries', { search: { query, filter: {}, order }, request, limits })
  const rental = () => Object.values(under.account().rentals)[0]
  await under.until(() => rental()?.step === 'failed')
  expect(rental()?.problem?.code).toBe('prices_unknown')
  expect(service.rented).toEqual([])
})

test('any project’s plan says that the market has no prices', async context => {
  const { service, home, under } = await startOnBareService(context)
  const folder = join(home, 'digits')
  service.offers = [101, 102]
  for (const price of ['', 'machine: { price: 2 }']) {
    write(folder, { 'berth.yaml': `run: x\n${price}` })
    const project = await under.berth.registerProject(folder)
    expect(await under.run('planProject', { project })).toMatchObject({ problem: { code: 'prices_unknown' } })
  }
  service.offers = []
  const project = await under.berth.registerProject(folder)
  expect((await under.run('planProject', { project })).problem).toBeUndefined()
})

test.each([
  ['null', { credit: null }],
  ['left out, beside a balance', { credit: undefined, balance: 12.34 }],
])('a credit that is %s is untold, for which the key is not blamed', async (_, told) => {
  const { service, under } = await startOnBareService({ onTestFinished })
  const { credit } = under.account()
  expect(creditUnknownWords(under.account())).not.toContain('does not tell')
  service.user = { ...service.user, ...told }
  await under.run('refresh', {})
  // The last known value stays, with its time.
  expect(under.account()).toMatchObject({ credit, creditUntold: true, creditAt: expect.any(Number) })
  expect(creditUnknownWords(under.account())).toBe('The service doesn’t report the credit.')
  service.user = { ...service.user, credit: 5 }
  await under.run('refresh', {})
  expect(under.account()).toMatchObject({ credit: 5_000_000 })
  expect(under.account().creditUntold).toBeUndefined()
})

test('a limit on a credit never reported says so, and asks for no other key', async context => {
  const { under } = await startOnBareService(context, { credit: null })
  await setLimit(under, { when: { kind: 'credit', hours: 6 } })
  const [limit] = Object.values(under.account().limits)
  expect(limit?.problem).toMatchObject({
    code: 'credit_unknown',
    message: 'The service doesn’t report the credit, so this limit can’t act.',
  })
})

test.for<[string, Record<string, unknown>]>([
  ['0', { start_date: 0 }],
  ['-1', { start_date: -1 }],
  ['digits', { start_date: '0' }],
  ['milliseconds', { start_date: Date.now() - 3_600_000 }],
  ['the future', { start_date: Date.now() / 1000 + 86_400 }],
  ['decades ago', { start_date: 946_684_800 }],
  ['years ago', { start_date: 1_500_000_000 }],
  ['none', { start_date: null }],
  ['no price', { dph_total: -0.41, start_date: Date.now() / 1000 - 60 }],
  ['no possible price', { dph_total: 900_000, start_date: Date.now() / 1000 - 60 }],
])('a limit on the cost destroys nothing by a figure that cannot be: %s', async ([, facts], context) => {
  const { service, under } = await startOnBareService(context)
  service.facts = { dph_total: 0.41, ...facts }
  service.instances.set(1, 'running')
  await under.run('refresh', {})
  await setLimit(under, { instance: 1, action: 'destroy', when: { kind: 'cost', dollars: 5 } })
  await under.poll(3)
  expect(service.destroyed).toEqual([])
  const [limit] = Object.values(under.account().limits)
  expect(limit?.problem?.code).toBe('dph_total' in facts ? 'cost_unknown' : 'start_unknown')
  expect(under.account().instances[1]?.spent.micros).toBeLessThan(10_000)
})

test('a limit on the cost destroys by a figure that can be', async context => {
  const { service, under } = await startOnBareService(context)
  service.facts = { dph_total: 0.41, start_date: Date.now() / 1000 - 20 * 3600 }
  service.instances.set(1, 'running')
  await under.run('refresh', {})
  await setLimit(under, { instance: 1, action: 'destroy', when: { kind: 'cost', dollars: 5 } })
  await under.run('refresh', {})
  await expect.poll(() => service.destroyed).toEqual([1])
})

test.for([0, -1, 1000, Date.now(), Date.now() / 1000 - 7200])(
  'a contract is not over by an end that cannot be: %d',
  async (end_date, context) => {
    const { service, under } = await startOnBareService(context)
    service.facts = { start_date: Date.now() / 1000 - 3600, end_date }
    service.instances.set(1, 'stopped')
    await under.run('refresh', {})
    expect(under.account().instances[1]?.endsAt).toBeUndefined()
    expect(isContractOver(under.account().instances[1] as InstanceView, Date.now() / 1000)).toBe(false)
  },
)
