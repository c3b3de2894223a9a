import { describe, expect, test } from 'vitest'
import { isGoing } from '#shared/automation/run.ts'
import { openProject } from '../core/projects/place.ts'
import { noSshd } from '../ssh/own-root.ts'
import { berthOn, openSocket } from './cli.ts'

describe.skipIf(noSshd)(`a sweep from the command line${noSshd}`, () => {
  test('takes its settings from options, shows its plan, and is followed, listed and stopped', async () => {
    const { world, under, folder, project } = await openProject(
      {
        'berth.yaml':
          'name: sums\nrun: |\n  echo "loss=$lr"\n  test "$lr" != slow || sleep 600\nstop: { hours: 1 }\n',
      },
      undefined,
      {},
      4,
    )
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    const options = ['--set', 'lr=1e-4,3e-4', '--set', 'seed=1,2', '--at-once', '2', '--keep', '20m']
    const asked = await berth('run', ...options)
    expect(asked).toMatchObject({ code: 4, out: '' })
    expect(asked.err).toMatch(/^4 runs, at most 2 at once\. 2 machines, \$.*\/h together/)
    expect(asked.err).toContain('  4  lr=3e-4 seed=2\n')
    const plan = JSON.parse((await berth('run', '--json', ...options)).out)
    expect(plan).toMatchObject({ lastsAtMost: 3600, keptFor: 1200, sweep: { atOnce: 2 } })
    expect(plan.sweep.settings).toHaveLength(4)
    expect(plan.sweep.machines).toHaveLength(2)

    const ran = await berth('run', '--yes', '-f', ...options)
    expect(ran).toMatchObject({ code: 0, err: expect.stringContaining('4 of 4 done\n') })
    const listed = JSON.parse((await berth('ps', '--project', 'sums', '--json')).out)
    expect(listed.sweeps).toMatchObject([{ step: 'over', runs: 4, done: 4, failed: 0 }])
    expect(listed.runs[0]).toMatchObject({
      run: 1,
      setting: { lr: '1e-4', seed: '1' },
      step: 'done',
      printed: { loss: 0.0001 },
    })
    expect((await berth('ps', '--project', project)).out).toMatch(/lr=3e-4 seed=2 +done .*loss=0\.0003/)
    // They wait, each with what ends it.
    await expect.poll(async () => (await berth('ps')).out).toMatch(/STOPS\n.*destroyed in \d+ min/)
    const { instances } = JSON.parse((await berth('ps', '--json')).out)
    expect(instances[0]).toMatchObject({ bid: null, stops: [{ action: 'destroy' }, { action: 'stop' }] })

    expect(await berth('stop', 'sums')).toMatchObject({ code: 1, err: 'sums has no run in progress.\n' })
    const sweep = JSON.parse((await berth('run', '--yes', '--json', '--set', 'lr=slow', '--runs', '3')).out)
    await under.until(() => Object.values(under.account().runs).some(({ step }) => step === 'running'))
    expect(await berth('stop', 'sums')).toMatchObject({ code: 4 })
    expect(await berth('move', 'nothing')).toMatchObject({ code: 5 })
    const running = () => Object.values(under.account().runs).find(({ step }) => step === 'running')
    const { id = '', instance: from } = running() ?? {}
    await under.until(() => under.account().runs[id]?.waiting?.for === 'output')
    const question = await berth('move', id)
    expect(question).toMatchObject({
      code: 4,
      err: expect.stringMatching(/^Berth ends the command, .*You pay for .*30 minutes/),
    })
    const moved = JSON.parse((await berth('move', String(from), '--yes', '--json')).out)
    expect(moved).toEqual({ account: under.account().id, job: id, from })
    await under.until(() => under.account().runs[id]?.moves === 1)
    await under.until(() => running() !== undefined)
    const [machine] = Object.keys(under.account().instances).map(Number)
    await under.run('renameInstance', { instance: machine ?? 0, label: 'sums' })
    await under.until(() => under.account().instances[machine ?? 0]?.label === 'sums')
    const both = await berth('stop', 'sums')
    expect(both).toMatchObject({ code: 4, err: expect.stringContaining('To stop only the instance sums') })
    const machines = () => Object.keys(under.account().instances)
    const used = Object.values(under.account().runs).flatMap(run =>
      isGoing(run) ? (run.instance ?? []) : [],
    )
    expect(used.length).toBeGreaterThan(0)
    const stopped = JSON.parse((await berth('stop', 'sums', '--yes', '--json')).out)
    expect(machines().filter(id => used.includes(Number(id)))).toEqual([])
    expect(stopped.sweeps).toEqual([sweep.sweep])
    await under.until(() => machines().length === 0)
  })

  test('rejects unknown options', async () => {
    const { world, under, folder } = await openProject({ 'berth.yaml': 'run: exit 3\n' })
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    for (const words of [
      ['--set', 'lr'],
      ['--runs', '0'],
      ['--at-once', 'x'],
      ['--keep', '20'],
    ])
      expect(await berth('run', ...words)).toMatchObject({ code: 2 })
    expect(await berth('ps', '--project', 'nothing')).toMatchObject({ code: 5 })
  })

  test('the doctor names each problem and its fix', async () => {
    const { world, under, folder } = await openProject({ 'berth.yaml': 'run: exit 3\n' })
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    const { checks } = JSON.parse((await berth('doctor', '--json')).out)
    expect(checks).toContainEqual(
      expect.objectContaining({ name: expect.stringMatching(/^Key of/), ok: true }),
    )
    expect(checks.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['Keychain', 'SSH', 'git', 'rsync', 'Disk']),
    )
    const without = await berthOn(home, { cwd: folder, env: { PATH: '/nowhere' } })('doctor')
    expect(without).toMatchObject({ code: 1, out: expect.stringContaining('wrong  SSH: Not installed') })
    expect(without.out).toContain('Install OpenSSH')
  })
})
