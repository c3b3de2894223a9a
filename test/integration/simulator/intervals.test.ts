import { expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'

const LIST = '/api/v1/instances/'

/** Runs a test on a service with limits whose clock the test moves. */
async function limited(run: (sim: Simulator, clock: { now: number }) => Promise<void>) {
  const clock = { now: 0 }
  const sim = await startSimulator({
    speed: 0,
    calm: true,
    deployment: publicProfile,
    limitClock: () => clock.now,
  })
  try {
    await run(sim, clock)
  } finally {
    await sim.close()
  }
}

async function ask(sim: Simulator, method: string, path: string) {
  const answer = await fetch(sim.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: '{}' }),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

test('a call within the interval is a 429 in plain text without a Retry-After', async () => {
  await limited(async (sim, clock) => {
    expect((await ask(sim, 'GET', LIST)).status).toBe(200)
    clock.now = 999
    const early = await ask(sim, 'GET', LIST)
    expect(early).toMatchObject({ status: 429, text: 'API requests too frequent' })
    expect(early.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(early.headers.get('retry-after')).toBeNull()
    clock.now = 1000
    expect((await ask(sim, 'GET', LIST)).status).toBe(200)
  })
})

test('each endpoint and method has its own interval, for all ids', async () => {
  await limited(async (sim, clock) => {
    expect((await ask(sim, 'GET', '/api/v0/instances/1/')).status).toBe(200)
    expect((await ask(sim, 'GET', '/api/v0/instances/2/')).status).toBe(429)
    expect((await ask(sim, 'DELETE', '/api/v0/instances/1/')).status).toBe(404)
    expect((await ask(sim, 'GET', LIST)).status).toBe(200)
    clock.now = 2000
    expect((await ask(sim, 'GET', '/api/v0/instances/2/')).status).toBe(200)
  })
})

test('renting too soon blocks renting for twelve seconds from each call', async () => {
  await limited(async (sim, clock) => {
    const rent = async () => (await ask(sim, 'PUT', '/api/v0/asks/1/')).status
    expect(await rent()).not.toBe(429)
    clock.now = 4400
    expect(await rent()).toBe(429)
    clock.now = 16_300
    expect(await rent()).toBe(429)
    clock.now = 28_300
    expect(await rent()).not.toBe(429)
  })
})

test('ten searches a minute are answered, and the eleventh is refused', async () => {
  await limited(async (sim, clock) => {
    for (let search = 0; search < 10; search++) {
      expect((await ask(sim, 'POST', '/api/v0/bundles/')).status).toBe(200)
    }
    expect((await ask(sim, 'POST', '/api/v0/bundles/')).status).toBe(429)
    clock.now = 60_000
    expect((await ask(sim, 'POST', '/api/v0/bundles/')).status).toBe(200)
  })
})

test.each([
  ['detail', /^\{"detail":"API requests too frequent: endpoint threshold=1\.0"\}$/],
  ['msg', /"error":"rate_limit_exceeded"/],
  ['text', /^API requests too frequent$/],
  ['text-threshold', /^API requests too frequent: endpoint threshold=1\.0$/],
  ['html', /^<html>/],
])('refusal=%s sets the body of a 429', async (refusal, form) => {
  await limited(async sim => {
    sim.controls.setDeployment({ refusal })
    await ask(sim, 'GET', LIST)
    expect(await ask(sim, 'GET', LIST)).toMatchObject({ status: 429, text: expect.stringMatching(form) })
  })
})
