import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isGoing, isProjectRun } from '#shared/automation/run.ts'
import { latestRuns } from '#shared/automation/sweep.ts'
import { planCosts } from '#shared/project/plan-costs.ts'
import { codeOf } from '#test/berth/steps.ts'
import type { BerthUnderTest } from '#test/berth/world.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { openProject, type ProjectPlace, write } from '../projects/place.ts'

const spec = `name: digits
setup: echo ready >> prepared
sweep:
  lr: [1e-4, 3e-4]
  seed: [1, 2, 3]
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

const sweepOf = (under: BerthUnderTest, id: string) => under.account().sweeps[id]
function runsOf(under: BerthUnderTest, id: string) {
  const sweep = sweepOf(under, id)
  return sweep ? latestRuns(sweep, Object.values(under.account().runs).filter(isProjectRun)) : []
}

/** The results here, by the folder of their run. */
function resultsOf({ folder, under }: ProjectPlace, id: string): Record<string, string> {
  const place = join(folder, sweepOf(under, id)?.results ?? '')
  return Object.fromEntries(
    readdirSync(place)
      .sort()
      .map(name => [name, readFileSync(join(place, name, 'out', 'result.txt'), 'utf8')]),
  )
}

describe.skipIf(noSshd)(`a sweep${noSshd}`, () => {
  test('of six runs uses three machines, each set up once, and a separate folder for each run', async () => {
    const place = await openProject({ 'berth.yaml': spec }, undefined, {}, 3)
    const { world, under, project, runProject } = place
    const plan = await under.run('planProject', { project })
    expect(plan.sweep?.settings).toHaveLength(6)
    expect(plan.sweep?.machines).toHaveLength(3)
    expect(planCosts(plan)?.most).toBeGreaterThan(0)

    const id = await runProject()
    let most = 0
    under.berth.onChange(() => {
      most = Math.max(most, runsOf(under, id).filter(run => run !== undefined && isGoing(run)).length)
    })
    await under.until(() => sweepOf(under, id)?.step === 'over', 90_000)
    expect(runsOf(under, id).map(run => run?.step)).toEqual(Array.from({ length: 6 }, () => 'done'))
    expect(most).toBe(3)
    expect(world.sim.controls.ledger().instances).toHaveLength(3)
    await under.until(() => Object.keys(under.account().instances).length === 0)
    const results = resultsOf(place, id)
    expect(Object.keys(results)).toHaveLength(6)
    expect(results['1']).toBe('ready\n1e-4 1 1/6\n')
    expect(results['6']).toBe('ready\n3e-4 3 6/6\n')
    const cost = sweepOf(under, id)?.cost.micros
    expect(cost).toBeLessThan(planCosts(plan)?.most ?? 0)
    // Machines that are gone count with all that they cost until then. Each is seen up to a poll late as it begins to run
    // and as it ends: two seconds, two minutes of this world.
    const { micro_dollars, charges } = world.sim.controls.ledger()
    const running = charges.filter(({ kind }) => kind === 'gpu')
    const perHour = running.reduce((sum, { micro_dollars_per_hour }) => sum + micro_dollars_per_hour, 0)
    expect(cost).toBeGreaterThan(micro_dollars - perHour * (240 / 3600))
  })

  test('rents no other machine once the user has stopped its machines', async () => {
    const file = 'name: digits\nsweep: { lr: [1, 2, 3] }\nat_once: 2\nrun: sleep 1000\n'
    const { world, under, runProject } = await openProject({ 'berth.yaml': file }, undefined, {}, 2)
    const id = await runProject()
    await under.until(() => runsOf(under, id).filter(run => run?.step === 'running').length === 2, 90_000)
    for (const run of runsOf(under, id))
      if (run?.instance !== undefined) await under.run('stopInstance', { instance: run.instance })
    await under.until(() => sweepOf(under, id)?.step === 'halted', 90_000)
    await under.until(() => runsOf(under, id).every(run => run === undefined || run.step === 'failed'))
    expect(sweepOf(under, id)?.problem?.code).toBe('sweep_halted_by_user')
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
  })

  test('stopped halfway leaves no machine, and continues with the unfinished runs', async () => {
    const place = await openProject(
      { 'berth.yaml': `${spec.replace('mkdir', 'sleep 1\n  mkdir')}` },
      undefined,
      {},
      6,
    )
    const { under, runProject } = place
    const id = await runProject()
    const done = () => runsOf(under, id).filter(run => run?.step === 'done')
    await under.until(() => done().length >= 2)
    await under.run('stopSweep', { sweep: id })
    expect(sweepOf(under, id)?.step).toBe('stopped')
    await under.until(() => Object.keys(under.account().instances).length === 0)
    const before = done().map(run => run?.id)
    expect(before.length).toBeLessThan(6)

    await under.run('continueSweep', { sweep: id })
    expect(await codeOf(under.run('continueSweep', { sweep: id }))).toBe('sweep_going')
    await under.until(() => sweepOf(under, id)?.step === 'over', 90_000)
    expect(done()).toHaveLength(6)
    expect(done().map(run => run?.id)).toEqual(expect.arrayContaining(before))
    expect(Object.keys(resultsOf(place, id))).toHaveLength(6)
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('continues after failed runs, and can repeat only those', async () => {
    const place = await openProject(
      {
        'berth.yaml':
          'sweep: { seed: [1, 2, 3, 4] }\nat_once: 1\nrun: |\n  echo $seed > out.txt; echo "loss=$seed"\n  [ $seed != 2 ] || test -e data/mended\nresults: out.txt\n',
        'data/x': '',
      },
      undefined,
      {},
      2,
    )
    const { world, under, folder, runProject } = place
    const id = await runProject()
    await under.until(() => sweepOf(under, id)?.step === 'over')
    expect(runsOf(under, id).map(run => run?.step)).toEqual(['done', 'failed', 'done', 'done'])
    expect(runsOf(under, id)[2]?.printed).toEqual({ loss: 3 })
    // The machine of the run that failed took the next one.
    expect(world.sim.controls.ledger().instances).toHaveLength(1)
    await under.until(() => Object.keys(under.account().instances).length === 0)

    write(folder, { 'data/mended': '' })
    const others = runsOf(under, id)
      .filter(run => run?.step === 'done')
      .map(run => run?.id)
    await under.run('retrySweep', { sweep: id })
    await under.until(() => sweepOf(under, id)?.step === 'over')
    expect(runsOf(under, id).map(run => run?.step)).toEqual(['done', 'done', 'done', 'done'])
    expect(runsOf(under, id).map(run => run?.id)).toEqual(expect.arrayContaining(others))
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
    await under.until(() => Object.keys(under.account().instances).length === 0)
    await under.run('dismissSweep', { sweep: id })
    expect(Object.keys(under.account().runs)).toEqual([])
  })

  test('stops after three crashes, also where the command pipes its output into tee', async () => {
    const { under, folder, runProject } = await openProject(
      {
        'berth.yaml':
          'sweep: { lr: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }\nat_once: 1\nrun: |\n  no_such_trainer --lr $lr 2>&1 | tee log.txt\n  echo and on\n',
      },
      undefined,
      {},
      2,
    )
    const id = await runProject()
    await under.until(() => sweepOf(under, id)?.step === 'halted')
    const steps = runsOf(under, id).map(run => run?.step)
    expect(steps).toEqual(Array.from({ length: 10 }, (_, run) => (run < 3 ? 'failed' : undefined)))
    expect(runsOf(under, id)[0]).toMatchObject({
      name: 'digits 01',
      into: join(folder, sweepOf(under, id)?.results ?? '', '01'),
      code: 127,
      lastLine: expect.stringContaining('no_such_trainer'),
    })
  })

  test('stops its machines at its limit, keeps their files, and continues there', async () => {
    const place = await openProject(
      {
        'berth.yaml':
          'runs: 3\nrun: |\n  [ ! -e begun ] || exit 0\n  touch begun\n  echo begun\n  sleep 1000\nstop: { dollars: 0.5 }\n',
      },
      undefined,
      {},
      3,
    )
    const { world, under, project, runProject } = place
    const plan = await under.run('planProject', { project })
    const { most: whole = 0, keptCost = 0 } = planCosts(plan) ?? {}
    const most = whole - keptCost
    expect(most).toBe(500_000)
    const id = await runProject()
    // Else one that is stopped before then would begin anew.
    await under.until(() => runsOf(under, id).every(run => run?.lastLine === 'begun'))
    await world.sim.controls.advance(10_000)
    await under.until(() => sweepOf(under, id)?.step === 'halted')
    expect(sweepOf(under, id)?.problem?.code).toBe('sweep_limit')
    await under.until(() => runsOf(under, id).every(run => run?.step === 'failed'))
    expect(Object.values(under.account().instances).map(({ state }) => state)).toEqual([
      'stopped',
      'stopped',
      'stopped',
    ])
    expect(Object.keys(under.account().instances)).toHaveLength(3)
    // The sweep's own alert tells of all of them.
    expect(world.titles().filter(title => /^Stopped |failed|^digits 0/.test(title))).toEqual([])
    // No more than what all of them cost in one poll and the delay of a busy machine, at sixty times the speed.
    const perHour = (plan.sweep?.machines ?? []).reduce((sum, { price }) => sum + price, 0)
    expect(sweepOf(under, id)?.cost.micros).toBeLessThan(most + (perHour * (10_000 + 900)) / 3600)

    await under.run('continueSweep', { sweep: id })
    await under.until(() => sweepOf(under, id)?.step !== 'going')
    expect(runsOf(under, id).map(run => run?.step)).toEqual(['done', 'done', 'done'])
    expect(world.sim.controls.ledger().instances).toHaveLength(3)
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('continues from each run’s checkpoint after it was stopped with its machine', async () => {
    const { world, under, sshds, folder, runProject } = await openProject(
      {
        'berth.yaml': `machine: { price: 5 }
runs: 2
at_once: 1
checkpoint: 1m
results: [steps]
run: |
  if [ -e steps ]; then echo again >> steps; else echo "begun $BERTH_RUN" > steps; fi
  until [ -e ../../enough ]; do sleep 0.1; done
`,
      },
      undefined,
      {},
      2,
    )
    const id = await runProject()
    await under.until(() => (runsOf(under, id)[0]?.downloadResult?.files ?? 0) > 0)
    await under.run('stopSweep', { sweep: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    for (const { home } of sshds) writeFileSync(join(home, 'enough'), '')
    await under.run('continueSweep', { sweep: id })
    await under.until(() => sweepOf(under, id)?.step === 'over')
    const steps = (run: string) =>
      readFileSync(join(folder, sweepOf(under, id)?.results ?? '', run, 'steps'), 'utf8')
    expect(steps('1')).toBe('begun 1\nagain\n')
    expect(steps('2')).toBe('begun 2\n')
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('continues with fewer machines if there are too few offers', async () => {
    const place = await openProject(
      { 'berth.yaml': 'runs: 6\nat_once: 6\nrun: sleep 1; echo $BERTH_RUN > out.txt\nresults: out.txt\n' },
      undefined,
      { offers: 4 },
      6,
    )
    const { under, project, world, runProject } = place
    const fitting = (await under.run('planProject', { project })).sweep?.machines.length ?? 0
    expect(fitting).toBeGreaterThan(0)
    expect(fitting).toBeLessThan(6)
    const id = await runProject()
    await under.until(() => sweepOf(under, id)?.step === 'over', 90_000)
    expect(runsOf(under, id).map(run => run?.step)).toEqual(Array.from({ length: 6 }, () => 'done'))
    expect(world.sim.controls.ledger().instances.length).toBeLessThanOrEqual(fitting)
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })
})
