import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSimulator } from '../../../simulator/simulator.ts'
import { buildKillable, type Killable, said } from './killable.ts'

/** How often it is killed; BERTH_KILLS asks for more. */
const rounds = Number(process.env['BERTH_KILLS'] ?? 10)
/** Rounds under way at once: most of a round is waiting. */
const atOnce = 5

let processes: Killable
beforeAll(async () => {
  processes = await buildKillable()
})
afterAll(() => processes.remove())

interface Round {
  round: number
  killedAfter: number
  /** Whether the request was on disk when the process was killed. */
  requested: boolean
  instances: number
  ever: number
  stillHasSecret: boolean
  /** The instances whose guards were chosen with the rental, one entry for each guard. */
  guarded: unknown[]
}

/** Rents, is killed some milliseconds later, starts again and goes on until nothing is under way. */
async function killAndGoOn(round: number): Promise<Round> {
  const sim = await startSimulator({ seed: 100 + round, speed: 60, offers: 20, calm: true })
  const home = await mkdtemp(join(tmpdir(), 'berth-killed-'))
  // Most of what can go wrong is in the first moments; some rounds are killed while the instance boots.
  const killedAfter = Math.random() * (round % 5 === 4 ? 1500 : 120)
  // Half of the answers take their time, so that the process dies between the effect and its answer.
  if (round % 2 === 1)
    sim.controls.setFaults([{ method: 'PUT', path: '/asks/', kind: 'delay', ms: 80, times: 1 }])
  try {
    const first = processes.start(home, sim.baseUrl, sim.apiKey, 'rent')
    await said(first, 'renting')
    await new Promise(resolve => setTimeout(resolve, killedAfter))
    first.kill('SIGKILL')
    await once(first, 'exit')
    const requested = (await kept(home, 'rentals')).includes('"pytorch/pytorch"')

    const second = processes.start(home, sim.baseUrl, sim.apiKey, 'go on')
    await said(second, 'idle')
    second.kill('SIGKILL')
    await once(second, 'exit')
    const answer = await fetch(`${sim.baseUrl}/api/v0/instances/`, {
      headers: { authorization: `Bearer ${sim.apiKey}` },
    })
    const { instances } = (await answer.json()) as { instances: { id: number }[] }
    const ever = sim.controls.ledger().instances.length
    const keychain = await readFile(join(home, 'keychain.json'), 'utf8')
    const stillHasSecret = requested && keychain.includes('rental r')
    const guards: { instance: number; ended?: string }[] = JSON.parse((await kept(home, 'guards')) || '[]')
    return {
      round,
      killedAfter,
      requested,
      instances: instances.length,
      ever,
      stillHasSecret,
      guarded: guards.map(({ instance, ended }) => instance === instances[0]?.id && ended === undefined),
    }
  } finally {
    await sim.close()
    await rm(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** A file of the account as it is on disk. */
async function kept(home: string, name: 'rentals' | 'guards'): Promise<string> {
  const accounts = join(home, 'berth', 'accounts')
  const [account] = await readdir(accounts).catch(() => [])
  if (account === undefined) return ''
  return readFile(join(accounts, account, `${name}.json`), 'utf8').catch(() => '')
}

test('killed at any moment of a rental, it goes on: one request, one creation, one instance', {
  timeout: 240_000,
}, async () => {
  const results: Round[] = []
  let next = 0
  const lane = async () => {
    while (next < rounds) {
      next += 1
      results.push(await killAndGoOn(next))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  expect(results).toHaveLength(rounds)
  for (const result of results) {
    const created = result.requested ? 1 : 0
    expect(result).toMatchObject({
      instances: created,
      ever: created,
      stillHasSecret: false,
      guarded: result.requested ? [true, true] : [],
    })
  }
  // The kills fell on both sides of the moments that matter.
  expect(results.filter(({ requested }) => requested).length).toBeGreaterThan(0)
})
