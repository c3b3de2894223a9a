import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep } from '#machine/tasks.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type ServiceClient } from '#service/client.ts'
import type { AnswerTime } from '#service/http/exchange.ts'
import { identify } from '#service/identify.ts'
import type { FaultInput } from '#simulator/http/fault-rules.ts'
import type { LoggedRequest } from '#simulator/http/request-log.ts'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'
import { LeapingClock } from '#test/berth/clocks.ts'
import { profileNames, profiles } from '../profiles.ts'
import { nobodysKey } from './connected.ts'

describe.each(profileNames)('on the %s profile', name => {
  let simulator: Simulator
  let client: ServiceClient
  const heard: AnswerTime[] = []
  /** The clock of the client's waits and the service's limits. */
  const clock = new LeapingClock()

  beforeAll(async () => {
    simulator = await startSimulator({
      deployment: profiles[name],
      seed: 11,
      speed: 600,
      offers: 200,
      calm: true,
      limitClock: () => clock.now(),
    })
    client = connect(simulator.apiKey)
  })
  afterAll(() => simulator.close())

  function connect(key: string): ServiceClient {
    return createClient({
      baseUrl: parseBaseUrl(simulator.baseUrl),
      key,
      clock,
      onAnswer: time => heard.push(time),
    })
  }

  const faults = (...rules: FaultInput[]) => simulator.controls.setFaults(rules)

  function requests(what: string): LoggedRequest[] {
    const all = simulator.controls.requests()
    return all.filter(({ method, path }) => method === 'PUT' && path.startsWith(`/api/v0/${what}/`))
  }

  /** The cheapest offer, after a wait: some deployments require seconds between two creations. */
  async function cheapest(): Promise<number> {
    await sleep(clock, 5000)
    const [offer] = await client.offers.search({
      filters: { rentable: { eq: true }, direct_port_count: { gte: 1 } },
      order: [['dph_total', 'asc']],
      type: 'on-demand',
      limit: 5,
      allocatedStorage: 20,
    })
    return offer?.id ?? expect.fail('no offer')
  }

  test('the key is reported as the account’s, and a wrong one is rejected', async () => {
    expect(await identify(client)).toMatchObject({ id: simulator.userId, credit: expect.any(Number) })
    await expect(identify(connect('wrong-key'))).rejects.toMatchObject(nobodysKey[name])
  })

  test('offers come back as asked for: filtered, sorted, limited', async () => {
    const offers = await client.offers.search({
      filters: { num_gpus: { gte: 2 }, reliability2: { gt: 0.5 } },
      order: [['dph_total', 'asc']],
      limit: 10,
    })
    expect(offers.length).toBeGreaterThan(0)
    expect(offers.length).toBeLessThanOrEqual(10)
    expect(offers.every(offer => (offer.num_gpus ?? 0) >= 2)).toBe(true)
    const prices = offers.map(offer => offer.dph_total ?? Number.NaN)
    expect(prices).toEqual([...prices].sort((a, b) => a - b))
  })

  test('an instance is rented, listed, renamed, stopped, started and destroyed', async () => {
    const { new_contract: id } = await client.offers.createInstance(await cheapest(), {
      image: 'pytorch/pytorch',
      disk: 20,
      label: 'berth test',
      env: { BERTH_RENTAL: 'mark' },
    })
    expect((await client.instances.list()).instances.map(instance => instance.id)).toContain(id)
    expect(await client.instances.one(id)).toMatchObject({ id, label: 'berth test' })
    await client.instances.rename(id, 'renamed')
    expect(await client.instances.one(id)).toMatchObject({ label: 'renamed' })
    await client.instances.stop(id)
    await client.instances.start(id)
    await client.instances.destroy(id)
    expect((await client.instances.list()).instances.map(instance => instance.id)).not.toContain(id)
    await expect(client.instances.one(id)).rejects.toMatchObject({ status: 404 })
  })

  test('a creation with a lost answer is ambiguous, is not repeated, and exists', async () => {
    const before = requests('asks').length
    const offer = await cheapest()
    faults({ method: 'PUT', path: '^/api/v0/asks/', kind: 'reset_after', times: 1 })
    const body = { image: 'a', disk: 10, label: 'lost' }
    await expect(client.offers.createInstance(offer, body)).rejects.toMatchObject({ ambiguous: true })
    faults()
    expect(requests('asks').length).toBe(before + 1)
    const found = (await client.instances.list()).instances.filter(instance => instance.label === 'lost')
    expect(found).toHaveLength(1)
    for (const instance of found) await client.instances.destroy(instance.id)
  })

  test('a removal with a lost answer counts as done once nothing is left', async () => {
    const docker = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' }
    const { id } = await client.templates.create({ name: 'lost', image: 'a', ...docker })
    faults({ method: 'DELETE', path: '^/api/v0/template/', kind: 'reset_after', times: 1 })
    await client.templates.remove(id)
    await expect(client.templates.remove(id)).rejects.toMatchObject({ status: 404 })
  })

  test.each(['reset', 'status', 'reset_after'] as const)('a list survives the fault %s', async kind => {
    faults({ method: 'GET', path: '^/api/v[01]/instances/', kind, times: 2, status: 503 })
    expect((await client.instances.list()).instances).toBeInstanceOf(Array)
    faults()
  })

  test.each(['garbage', 'wrong_types'] as const)(
    '%s in place of a list is a bad answer with its path',
    async kind => {
      faults({ method: 'GET', path: '^/api/v[01]/instances/', kind, times: 1 })
      await expect(client.instances.list()).rejects.toMatchObject({
        code: 'bad_answer',
        path: expect.stringMatching(/^\$/),
      })
      faults()
    },
  )

  test.each(['garbage', 'wrong_types', 'hang_after'] as const)(
    '%s instead of the answer to a creation is ambiguous',
    async kind => {
      const offer = await cheapest()
      faults({ method: 'PUT', path: '^/api/v0/asks/', kind, times: 1 })
      const call = client.offers.createInstance(offer, { image: 'a', disk: 10 }, { timeout: 500 })
      await expect(call).rejects.toMatchObject({ ambiguous: true })
      faults()
      for (const instance of (await client.instances.list()).instances)
        await client.instances.destroy(instance.id)
    },
  )

  test('twelve bid changes at once stay under the threshold of the interface', async () => {
    const { new_contract: id } = await client.offers.createInstance(await cheapest(), {
      image: 'a',
      disk: 10,
      price: 1,
    })
    await Promise.all(Array.from({ length: 12 }, (_, n) => client.instances.changeBid(id, 1 + n / 100)))
    const refused = requests('instances/bid_price').filter(({ status }) => status === 429)
    // The public profile wants that many seconds between calls, so it refuses those already sent.
    expect(refused.length).toBeLessThanOrEqual(name === 'interface' ? 0 : 4)
    await expect(client.instances.changeBid(id, 99)).rejects.toMatchObject({ code: 'invalid_args' })
    await client.instances.destroy(id)
    await expect(client.instances.changeBid(id, 1)).rejects.toMatchObject({ code: 'no_such_instance' })
  })

  test('every answer reports the service’s time', () => {
    expect(heard.length).toBeGreaterThan(10)
    const world = heard.map(time => time.serverTime)
    expect(Math.max(...world) - Math.min(...world)).toBeGreaterThan(60)
  })
})
