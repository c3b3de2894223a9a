import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSimulator } from '../../../../simulator/simulator.ts'
import { buildKillable, type Killable, said } from '../killable.ts'

/** How often it is killed; BERTH_KILLS asks for more. */
const rounds = Number(process.env['BERTH_KILLS'] ?? 6)
/** Rounds under way at once: most of a round is waiting. */
const atOnce = 6

let processes: Killable
beforeAll(async () => {
  processes = await buildKillable()
})
afterAll(() => processes.remove())

interface Instance {
  id: number
  actual_status: string | null
}

/** Rents with failover among flaky hosts, is killed, finds its attempt crashed, and goes on until nothing is under way. */
async function killAndGoOn(round: number) {
  const sim = await startSimulator({ seed: 300 + round, speed: 200, offers: 20 })
  const home = await mkdtemp(join(tmpdir(), 'berth-killed-'))
  const onAccount = async () => {
    const answer = await fetch(`${sim.baseUrl}/api/v0/instances/`, {
      headers: { authorization: `Bearer ${sim.apiKey}` },
    })
    return ((await answer.json()) as { instances: Instance[] }).instances
  }
  const killedAfter = Math.random() * (round % 2 === 1 ? 250 : 5000)
  sim.controls.setFaults([
    { method: 'PUT', path: '/asks/', kind: round % 3 === 0 ? 'reset_after' : 'delay', ms: 80, times: 2 },
    { method: 'DELETE', path: '/instances/', kind: 'reset_after', times: 1 },
  ])
  try {
    const first = processes.start(home, sim.baseUrl, sim.apiKey, 'attempts')
    await said(first, 'renting')
    await new Promise(resolve => setTimeout(resolve, killedAfter))
    first.kill('SIGKILL')
    await once(first, 'exit')
    const requested = (await kept(home)).includes('"pytorch/pytorch"')
    if (round % 2 === 0) for (const { id } of await onAccount()) await sim.controls.forceStatus(id, 'exited')

    const second = processes.start(home, sim.baseUrl, sim.apiKey, 'go on')
    await said(second, 'idle')
    // State tells a moment before the disk does.
    await expect.poll(() => kept(home)).not.toContain('"trying"')
    second.kill('SIGKILL')
    await once(second, 'exit')
    const [attemptSeries] = JSON.parse((await kept(home)) || '[]') as { step: string; instance?: number }[]
    const keychain = await readFile(join(home, 'keychain.json'), 'utf8')
    const left = (await onAccount()).map(({ id }) => id)
    return {
      round,
      killedAfter,
      requested,
      attemptSeries,
      left,
      secret: requested && /rental [rf]/.test(keychain),
    }
  } finally {
    await sim.close()
    await rm(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** The attempts as they are on disk. */
async function kept(home: string): Promise<string> {
  const accounts = join(home, 'berth', 'accounts')
  const [account] = await readdir(accounts).catch(() => [])
  if (account === undefined) return ''
  return readFile(join(accounts, account, 'attempts.json'), 'utf8').catch(() => '')
}

test('killed at any step among flaky hosts, the attempts go on: one instance that is ready, or none', {
  timeout: 240_000,
}, async () => {
  const results: Awaited<ReturnType<typeof killAndGoOn>>[] = []
  let next = 0
  const lane = async () => {
    while (next < rounds) {
      next += 1
      results.push(await killAndGoOn(next))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  for (const result of results) {
    const { attemptSeries, left } = result
    expect(result.secret).toBe(false)
    if (!result.requested) expect(left).toEqual([])
    else if (attemptSeries?.step === 'ready') expect(left).toEqual([attemptSeries.instance])
    else expect({ step: attemptSeries?.step, left }).toEqual({ step: 'failed', left: [] })
  }
  expect(results.some(({ attemptSeries }) => attemptSeries?.step === 'ready')).toBe(true)
})
