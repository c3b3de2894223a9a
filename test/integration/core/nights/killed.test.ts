import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startSimulator } from '#simulator/simulator.ts'
import { Draw } from '#simulator/world/draw.ts'
import { inRounds, listed, stored, useKillable } from '#test/berth/processes.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { startSshd } from '#test/integration/ssh/sshd.ts'
import { joinListed, write } from '../projects/place.ts'

/** The number of kills; BERTH_KILLS sets it. */
const rounds = Number(process.env['BERTH_KILLS'] ?? 3)
const seed = Number(process.env['BERTH_TEST_SEED'] ?? 4711)
const atOnce = 5
/** Milliseconds within which Berth is killed: about as long as a whole job. */
const longest = 4000

const processes = useKillable()

const spec = `setup: echo ready >> prepared
run: |
  cat prepared >> out.txt
  sleep 1
  echo trained >> out.txt
results: [out.txt]
stop: { hours: 4 }
`

/** Runs a project, kills Berth, and restarts it until nothing is under way. */
async function killAndGoOn(round: number, killedAfter: number) {
  const sim = await startSimulator({ seed: 100 + round, speed: 60, offers: 40, calm: true, limits: false })
  const home = mkdtempSync(join(tmpdir(), 'berth-killed-'))
  const folder = join(home, 'code')
  write(folder, { 'berth.yaml': spec, 'train.py': 'print(1)\n' })
  const sshd = await startSshd()
  const endJoining = joinListed(sim, home, sshd)
  try {
    const account = [home, sim.baseUrl, sim.apiKey]
    await processes.runUntil('renting', [...account, 'project', folder], () => wait(killedAfter))
    await processes.runUntil('idle', [...account, 'go on', folder])
    const ever = sim.controls.ledger().instances.length
    return {
      round,
      killedAfter,
      left: listed(sim).length,
      ever,
      result: ever === 0 ? '' : readResult(folder),
      job: await stored(home, 'runs'),
    }
  } finally {
    await endJoining()
    await sshd.close()
    await sim.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

function readResult(folder: string): string {
  try {
    return readFileSync(join(folder, 'out.txt'), 'utf8')
  } catch {
    return 'nothing was downloaded'
  }
}

test.skipIf(noSshd)(
  `a job that is killed at any moment ends as it should, once${noSshd}`,
  async () => {
    const draw = new Draw(seed)
    const moments = Array.from({ length: rounds }, () => draw.next() * longest)
    const results = await inRounds(rounds, atOnce, round => killAndGoOn(round, moments[round - 1] ?? 0))
    const wrong = results.filter(
      ({ left, ever, result }) => left > 0 || ever > 1 || (ever === 1 && result !== 'ready\ntrained\n'),
    )
    expect(wrong, `seed ${seed}`).toEqual([])
    expect(results.filter(({ ever }) => ever === 1).length).toBeGreaterThan(rounds / 2)
  },
  Math.max(170_000, rounds * 30_000),
)
