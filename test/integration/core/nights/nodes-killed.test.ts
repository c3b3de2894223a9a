import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startSimulator } from '#simulator/simulator.ts'
import { Draw } from '#simulator/world/draw.ts'
import { inRounds, listed, useKillable } from '#test/berth/processes.ts'
import { write } from '../projects/place.ts'

/** The number of kills; BERTH_KILLS sets it. */
const rounds = Number(process.env['BERTH_KILLS'] ?? 3)
const seed = Number(process.env['BERTH_TEST_SEED'] ?? 4711)
const atOnce = 4
/** Milliseconds within which Berth is killed: about as long as a whole run. */
const longest = 14_000

const processes = useKillable()

const spec = `machine: { gpu: RTX 4090 }
nodes: 3
setup: pip install -r requirements.txt
run: python train.py --epochs 1
results: out
stop: { hours: 20 }
`

/** Runs a project on three machines, kills Berth, and restarts it until nothing is left. */
async function killAndGoOn(round: number, killedAfter: number) {
  const sim = await startSimulator({ seed: 7, speed: 60, offers: 500, calm: true, limits: false })
  const home = mkdtempSync(join(tmpdir(), 'berth-nodes-killed-'))
  const folder = join(home, 'code')
  write(folder, { 'berth.yaml': spec, 'train.py': 'print(1)\n' })
  const left = async () => {
    const headers = { authorization: `Bearer ${sim.apiKey}` }
    const overlays = await (await fetch(`${sim.baseUrl}/api/v0/overlay/`, { headers })).json()
    return { overlays: (overlays as unknown[]).length, instances: listed(sim).length }
  }
  try {
    const account = [home, sim.baseUrl, sim.apiKey]
    await processes.runUntil('renting', [...account, 'project', folder], () => wait(killedAfter))
    await processes.runUntil('idle', [...account, 'go on', folder], () =>
      expect.poll(left, { message: `round ${round}, seed ${seed}` }).toEqual({ overlays: 0, instances: 0 }),
    )
    const ever = sim.controls.ledger().instances.length
    const result = await readFile(join(folder, 'out', 'loss.csv'), 'utf8').catch(() => '')
    return { round, killedAfter, ever, hasResult: result !== '' }
  } finally {
    await sim.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

test(
  'a run on several machines that is killed at any moment runs once, or never, and leaves nothing',
  async () => {
    const draw = new Draw(seed, 'nodes')
    const moments = Array.from({ length: rounds }, () => draw.next() * longest)
    const results = await inRounds(rounds, atOnce, round => killAndGoOn(round, moments[round - 1] ?? 0))
    const wrong = results.filter(({ ever, hasResult }) => ever !== (hasResult ? 3 : 0))
    expect(wrong, `seed ${seed}`).toEqual([])
    expect(results.filter(({ ever }) => ever === 3).length).toBeGreaterThanOrEqual(rounds / 2)
  },
  rounds * 60_000,
)
