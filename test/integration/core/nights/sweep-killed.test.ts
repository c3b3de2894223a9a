import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startSimulator } from '#simulator/simulator.ts'
import { Draw } from '#simulator/world/draw.ts'
import { inRounds, listed, useKillable } from '#test/berth/processes.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { startSshd } from '#test/integration/ssh/sshd.ts'
import { joinListed, write } from '../projects/place.ts'

/** The number of kills, two in each round; BERTH_KILLS sets it. */
const kills = Number(process.env['BERTH_KILLS'] ?? 6)
const rounds = Math.ceil(kills / 2)
const seed = Number(process.env['BERTH_TEST_SEED'] ?? 4711)
const atOnce = 3
/** Milliseconds within which Berth is killed: about as long as half of a sweep. */
const longest = 4000
const runs = 3

const processes = useKillable()

/** Each run writes down that it began, in a file that all machines share. */
const spec = (begun: string) => `runs: ${runs}
at_once: 2
setup: echo ready > prepared
run: |
  echo $BERTH_RUN >> ${begun}
  sleep 0.5
  echo "$BERTH_RUN of $BERTH_RUNS" > out.txt
results: out.txt
stop: { hours: 8 }
`

/** Runs a sweep, kills Berth twice, and restarts it until nothing is under way. */
async function killAndGoOn(round: number, killedAfter: readonly number[]) {
  const sim = await startSimulator({ seed: 300 + round, speed: 60, offers: 40, calm: true, limits: false })
  const home = mkdtempSync(join(tmpdir(), 'berth-killed-sweep-'))
  const folder = join(home, 'code')
  const begun = join(home, 'begun')
  write(home, { begun: '' })
  write(folder, { 'berth.yaml': spec(begun) })
  const sshds = await Promise.all([startSshd(), startSshd(), startSshd()])
  const endJoining = joinListed(sim, home, ...sshds)
  try {
    const account = [home, sim.baseUrl, sim.apiKey]
    const [first = 0, second = 0] = killedAfter
    await processes.runUntil('renting', [...account, 'project', folder], () => wait(first))
    await processes.runUntil('online', [...account, 'go on', folder], () => wait(second))
    await processes.runUntil('idle', [...account, 'go on', folder])
    const ever = sim.controls.ledger().instances.length
    return {
      round,
      killedAfter,
      ever,
      left: listed(sim).length,
      begun: readFileSync(begun, 'utf8').split('\n').filter(Boolean).sort(),
    }
  } finally {
    await endJoining()
    await Promise.all(sshds.map(sshd => sshd.close()))
    await sim.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 20 })
  }
}

const draw = new Draw(seed)
const moments = Array.from({ length: rounds }, () => [draw.next() * longest, draw.next() * longest])
const groups = Array.from({ length: Math.ceil(rounds / atOnce) }, (_, group) => group * atOnce)

describe.skipIf(noSshd)(`a sweep that is killed at any moments${noSshd}`, () => {
  let rented = 0

  test.for(groups)(
    'runs each of its runs once, and leaves no machine: rounds after %i',
    { timeout: atOnce * 60_000 },
    async before => {
      const some = moments.slice(before, before + atOnce)
      const results = await inRounds(some.length, atOnce, round =>
        killAndGoOn(before + round, some[round - 1] ?? []),
      )
      const all = Array.from({ length: runs }, (_, index) => String(index + 1))
      const wrong = results.filter(
        ({ left, ever, begun }) => left > 0 || (ever > 0 && begun.join() !== all.join()) || ever > 3,
      )
      expect(wrong, `seed ${seed}`).toEqual([])
      rented += results.filter(({ ever }) => ever > 0).length
    },
  )

  test('has mostly rented before it was killed', () => {
    expect(rented).toBeGreaterThan(rounds / 2)
  })
})
