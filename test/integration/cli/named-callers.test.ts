import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BerthConnection } from '#cli/connection.ts'
import { CliFailure } from '#cli/failure.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import type { Problem } from '#shared/problem.ts'
import { newSpender, type SpenderForm } from '#shared/spending/spender.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'
import { berthOn, openSocket } from './cli.ts'

const query = { type: 'on-demand', verifiedOnly: false, limit: 20, storage: 10 } as const
const request = (offer: number): RentRequest => ({
  offer,
  image: 'pytorch/pytorch',
  access: 'ssh',
  disk: 10,
  env: [],
  ports: [],
})

/** A connected Berth with an open socket, and what it lets names do. */
async function named(...spenders: readonly (Partial<SpenderForm> & Pick<SpenderForm, 'kind' | 'name'>)[]) {
  const world = await createWorld({ speed: 600 })
  onTestFinished(() => world.close())
  const under = await world.startConnected()
  const { home, happened } = await openSocket(world, under.berth)
  const permit = (...forms: typeof spenders) =>
    under.run('changeSettings', { settings: { spenders: forms.map(form => ({ ...newSpender, ...form })) } })
  await permit(...spenders)
  async function connect(name: string): Promise<BerthConnection> {
    const connection = await BerthConnection.open(join(home, 'berth.sock'))
    onTestFinished(() => connection.close())
    await connection.local('introduce', { kind: 'agent', name })
    return connection
  }
  return { under, happened, permit, connect, berth: berthOn(home) }
}

async function problemOf(asked: Promise<unknown>): Promise<Problem> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof CliFailure) return error.problem
  throw new Error('It was not refused.')
}

test('an agent may do nothing, then only look, then rent within its caps and end only what it rented', async () => {
  const { under, permit, connect, happened } = await named()
  const mine = (await rentRunning(under)).id
  const stranger = await connect('claude')
  expect(await problemOf(stranger.command('searchOffers', { query }))).toMatchObject({
    refusal: { limit: 'permission', name: 'claude' },
  })
  expect(await problemOf(stranger.state())).toMatchObject({ refusal: { limit: 'permission' } })

  await permit({ kind: 'agent', name: 'claude', may: 'see' })
  const looking = await connect('claude')
  const { offers } = await looking.command('searchOffers', { query })
  const [cheap] = offers.toSorted((a, b) => (a.price ?? 0) - (b.price ?? 0))
  const price = (cheap?.price ?? 0) / 1_000_000
  expect(await problemOf(looking.command('rent', { request: request(cheap?.id ?? 0) }))).toMatchObject({
    refusal: { limit: 'permission' },
  })

  await permit({ kind: 'agent', name: 'claude', machines: 1, price: price * 1.5, perHour: 10, perDay: 100 })
  for (const [name, args] of [
    ['changeSettings', { settings: { spenders: [] } }],
    ['stopEverything', {}],
    ['removeAccount', { account: under.account().id }],
    ['saveSecret', { name: 'HF_TOKEN', value: 'x' }],
    ['stopInstance', { instance: mine }],
    ['destroyInstance', { instance: mine }],
    ['startInstance', { instance: mine }],
    ['rent', { request: request(cheap?.id ?? 0), replaces: mine }],
  ] as const)
    expect((await problemOf(looking.command(name, args as never))).refusal, name).toBeDefined()
  expect((await problemOf(looking.local('quit', {}))).refusal).toBeDefined()
  expect((await problemOf(looking.local('registerProject', { folder: '/' }))).refusal).toBeDefined()
  expect(happened).toEqual([])
  const dear = offers.find(offer => (offer.price ?? 0) > price * 1_600_000)
  expect(await problemOf(looking.command('rent', { request: request(dear?.id ?? 0) }))).toMatchObject({
    code: 'over_cap',
    refusal: { limit: 'price' },
  })

  const rented = await Promise.allSettled(
    [1, 2, 3].map(() => looking.command('rent', { request: request(cheap?.id ?? 0) })),
  )
  await under.until(
    () => Object.keys(under.account().spenders?.['agent:claude']?.instances ?? {}).length === 1,
  )
  await under.until(() => Object.values(under.account().rentals).every(({ step }) => step !== 'asking'))
  expect(rented.some(({ status }) => status === 'fulfilled')).toBe(true)
  const [own = 0] = under.account().spenders?.['agent:claude']?.instances ?? []
  expect(Object.keys(under.account().instances).map(Number).sort()).toEqual([mine, own].sort())
  await looking.command('destroyInstance', { instance: own })
  await under.until(() => under.account().instances[own] === undefined)
  expect(under.account().instances[mine]?.state).toBe('running')
  const lines = Object.values(under.berth.state().activity).filter(({ by }) => by === 'agent:claude')
  expect(lines.map(({ text }) => text)).toContain(`Asked to destroy #${own}`)
  expect(lines.filter(({ kind }) => kind === 'error').length).toBeGreaterThan(0)
})

test('a script is held to its caps with its own exit code, and one that is not listed does nothing', async () => {
  const { under, berth, happened, permit } = await named({ kind: 'script', name: 'nightly', price: 0.01 })
  const { id } = await rentRunning(under)
  for (const verb of ['stop', 'destroy']) {
    const { code, err } = await berth(verb, String(id), '--yes', '--as', 'nightly', '--json')
    expect({ code, ...JSON.parse(err).error.refusal }, verb).toMatchObject({ code: 77, limit: 'ownership' })
  }
  const refusals = Object.values(under.berth.state().activity).filter(({ by }) => by === 'script:nightly')
  expect(refusals.map(({ text }) => text)).toContain(`Refused: Instance #${id} isn’t permitted for nightly.`)
  expect(await berth('quit', '--yes', '--as', 'nightly')).toMatchObject({ code: 77 })
  expect(happened).toEqual([])
  expect(under.account().instances[id]?.state).toBe('running')
  expect(await berth('stop', String(id))).toMatchObject({ code: 0 })
  await under.until(() => under.account().instances[id]?.state === 'stopped')
  const refused = await berth('start', String(id), '--as', 'nightly', '--json')
  expect(refused.code).toBe(77)
  expect(JSON.parse(refused.err)).toMatchObject({
    error: { code: 'over_cap', refusal: { limit: 'price', name: 'nightly', cap: 0.01, retry: 'never' } },
  })
  expect(await berth('ps', '--as', 'stranger')).toMatchObject({ code: 77, out: '' })
  expect(await berth('ps', '--as', 'No \u001b[31mname')).toMatchObject({ code: 2 })
  expect(await berth('ps', '--as', 'you')).toMatchObject({ code: 2 })
  expect(await berth('start', String(id))).toMatchObject({ code: 0 })
  await permit()
  const texts = Object.values(under.berth.state().activity).map(({ text }) => text)
  expect(texts).toContain('Removed nightly (script) from Agents and scripts')
})
