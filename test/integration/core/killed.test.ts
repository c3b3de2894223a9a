import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startSimulator } from '#simulator/simulator.ts'
import { hurriedClock } from '#test/berth/clocks.ts'
import { inRounds, listed, stored, useKillable } from '#test/berth/processes.ts'

/** The number of kills; BERTH_KILLS sets it. */
const rounds = Number(process.env['BERTH_KILLS'] ?? 8)
const atOnce = 5
const limitClock = hurriedClock().monotonic

const processes = useKillable()

interface Round {
  round: number
  killedAfter: number
  /** Whether the request was on disk when the process was killed. */
  requested: boolean
  instances: number
  ever: number
  stillHasSecret: boolean
  /** For each limit, whether it is on the instance and has not ended. */
  limited: unknown[]
}

/** Rents, kills Berth some milliseconds later, and restarts it until nothing is under way. */
async function killAndGoOn(round: number): Promise<Round> {
  const sim = await startSimulator({ seed: 100 + round, speed: 60, offers: 20, calm: true, limitClock })
  const home = await mkdtemp(join(tmpdir(), 'berth-killed-'))
  // Most of what can go wrong is in the first moments; some rounds are killed while the instance boots.
  const isLate = round % 4 === 0
  const killedAfter = Math.random() * (isLate ? 1500 : 120)
  // Half of the answers are delayed, so that the process dies between the effect and its answer.
  if (round % 2 === 1)
    sim.controls.setFaults([{ method: 'PUT', path: '/asks/', kind: 'delay', ms: 80, times: 1 }])
  try {
    const account = [home, sim.baseUrl, sim.apiKey]
    const request = '"pytorch/pytorch"'
    await processes.runUntil('renting', [...account, 'rent'], async () => {
      if (isLate) await expect.poll(() => stored(home, 'rentals')).toContain(request)
      await wait(killedAfter)
    })
    const requested = (await stored(home, 'rentals')).includes(request)

    await processes.runUntil('idle', [...account, 'go on'])
    const instances = listed(sim)
    const ever = sim.controls.ledger().instances.length
    const keychain = await readFile(join(home, 'keychain.json'), 'utf8')
    const stillHasSecret = requested && keychain.includes('rental r')
    const limits: { instance: number; ended?: string }[] = JSON.parse((await stored(home, 'limits')) || '[]')
    return {
      round,
      killedAfter,
      requested,
      instances: instances.length,
      ever,
      stillHasSecret,
      limited: limits.map(({ instance, ended }) => instance === instances[0]?.id && ended === undefined),
    }
  } finally {
    await sim.close()
    await rm(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

test('a rental on disk when Berth is killed leads to exactly one instance', {
  timeout: 240_000,
}, async () => {
  const results = await inRounds(rounds, atOnce, killAndGoOn)
  expect(results).toHaveLength(rounds)
  for (const result of results) {
    const created = result.requested ? 1 : 0
    expect(result).toMatchObject({
      instances: created,
      ever: created,
      stillHasSecret: false,
      limited: result.requested ? [true, true] : [],
    })
  }
  // Some kills came after the request was on disk.
  expect(results.filter(({ requested }) => requested).length).toBeGreaterThan(0)
})

/** Rents with retries, kills Berth, crashes its instance every second time, and restarts it until nothing is in progress. */
async function killRetriesAndGoOn(round: number) {
  const sim = await startSimulator({ seed: 300 + round, speed: 200, offers: 20, limitClock })
  const home = await mkdtemp(join(tmpdir(), 'berth-killed-'))
  const killedAfter = Math.random() * (round % 2 === 1 ? 250 : 2500)
  sim.controls.setFaults([
    { method: 'PUT', path: '/asks/', kind: round % 3 === 0 ? 'reset_after' : 'delay', ms: 80, times: 2 },
    { method: 'DELETE', path: '/instances/', kind: 'reset_after', times: 1 },
  ])
  try {
    const account = [home, sim.baseUrl, sim.apiKey]
    const rentals = () => stored(home, 'rentals')
    await processes.runUntil('renting', [...account, 'retries'], () => wait(killedAfter))
    const requested = (await rentals()).includes('"pytorch/pytorch"')
    if (round % 2 === 0) for (const { id } of listed(sim)) await sim.controls.forceStatus(id, 'exited')

    // State changes a moment before the file.
    const isWritten = () => expect.poll(rentals).not.toContain('"trying"')
    await processes.runUntil('idle', [...account, 'go on'], isWritten)
    const [rental] = JSON.parse((await rentals()) || '[]') as { step: string; instance?: number }[]
    const keychain = await readFile(join(home, 'keychain.json'), 'utf8')
    const left = listed(sim).map(({ id }) => id)
    return {
      round,
      killedAfter,
      requested,
      rental,
      left,
      secret: requested && /rental r/.test(keychain),
    }
  } finally {
    await sim.close()
    await rm(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

test('after a kill at any step a rental with retries gives one ready instance or none', {
  timeout: 240_000,
}, async () => {
  const results = await inRounds(rounds, atOnce, killRetriesAndGoOn)
  for (const result of results) {
    const { rental, left } = result
    expect(result.secret).toBe(false)
    if (!result.requested) expect(left).toEqual([])
    else if (rental?.step === 'ready') expect(left).toEqual([rental.instance])
    else expect({ step: rental?.step, left }).toEqual({ step: 'failed', left: [] })
  }
  expect(results.some(({ rental }) => rental?.step === 'ready')).toBe(true)
})
