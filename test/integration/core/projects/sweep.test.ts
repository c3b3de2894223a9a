import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { latestRuns } from '#contract/automation/group.ts'
import { isGoing, isProjectRun } from '#contract/automation/run.ts'
import type { BerthUnderTest } from '#test/berth/world.ts'
import { hasSshd } from '#test/integration/ssh/sshd.ts'
import { lacks } from '#test/needs.ts'
import { openProject, type ProjectPlace } from './place.ts'

const lacking = lacks({ what: 'sshd', there: hasSshd })

const spec = `name: digits
setup: echo ready >> prepared
sweep:
  lr: [1e-4, 3e-4]
  seed: [1, 2, 3, 4, 5, 6]
at_once: 3
run: |
  [ ! -e mine ] || exit 9
  echo "$lr $seed $BERTH_RUN/$BERTH_RUNS" > mine
  mkdir -p out
  cat prepared mine > out/result.txt
  echo "loss=0.\${seed}"
results: out
stop: { hours: 4 }
`

const groupOf = (under: BerthUnderTest, id: string) => under.account().groups[id]
function runsOf(under: BerthUnderTest, id: string) {
  const group = groupOf(under, id)
  return group ? latestRuns(group, Object.values(under.account().runs).filter(isProjectRun)) : []
}

/** The results here, by the folder of their run. */
function resultsOf({ folder, under }: ProjectPlace, id: string): Record<string, string> {
  const place = join(folder, groupOf(under, id)?.results ?? '')
  return Object.fromEntries(
    readdirSync(place)
      .sort()
      .map(name => [name, readFileSync(join(place, name, 'out', 'result.txt'), 'utf8')]),
  )
}

describe.skipIf(lacking)(`a sweep${lacking}`, () => {
  test('of twelve runs takes three machines, each set up once, and gives each run a folder of its own', async () => {
    const place = await openProject({ 'berth.yaml': spec }, undefined, {}, 3)
    const { world, under, project, runProject } = place
    const plan = await under.run('planProject', { project })
    expect(plan.sweep?.settings).toHaveLength(12)
    expect(plan.sweep?.machines).toHaveLength(3)
    expect(plan.most).toBeGreaterThan(0)

    const id = await runProject()
    let most = 0
    under.berth.onChange(() => {
      most = Math.max(most, runsOf(under, id).filter(run => run !== undefined && isGoing(run)).length)
    })
    await under.until(() => groupOf(under, id)?.step === 'over', 90_000)
    expect(runsOf(under, id).map(run => run?.step)).toEqual(Array.from({ length: 12 }, () => 'done'))
    expect(most).toBe(3)
    expect(world.sim.controls.ledger().instances).toHaveLength(3)
    await under.until(() => Object.keys(under.account().instances).length === 0)
    const results = resultsOf(place, id)
    expect(Object.keys(results)).toHaveLength(12)
    expect(results['01']).toBe('ready\n0.0001 1 1/12\n')
    expect(results['12']).toBe('ready\n0.0003 6 12/12\n')
    expect(groupOf(under, id)?.cost.micros).toBeLessThan(plan.most ?? 0)
  })
})
