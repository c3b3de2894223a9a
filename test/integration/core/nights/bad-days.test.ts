import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeOf } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject } from '../projects/place.ts'

describe.skipIf(noSshd)(`a project’s run${noSshd}`, () => {
  test('that can’t create its folder three times stops its machine, and resumes there', async () => {
    const { under, sshd, runProject } = await openProject({ 'berth.yaml': 'run: exit 0\n' })
    writeFileSync(join(sshd.home, 'berth'), 'in the way')
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)).toMatchObject({
      failedAt: 'sending',
      problem: {
        code: 'sync_refused',
        message: expect.stringMatching(/berth.* isn’t a folder, or can’t be created or opened\.$/),
      },
    })
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
    rmSync(join(sshd.home, 'berth'))
    await under.run('retryRun', { run: id })
    await under.until(() => jobOf(under, id)?.step === 'done')
  })

  test('that can’t download a checkpoint keeps running, alerts, and downloads one later', async () => {
    const { world, under, sshd, folder, runProject } = await openProject({
      'berth.yaml': `checkpoint: 1m
results: [steps]
run: |
  while [ ! -e ../../enough ]; do date +%s%N >> steps; sleep 0.2; done
`,
    })
    const id = await runProject()
    await under.until(() => (jobOf(under, id)?.downloadResult?.files ?? 0) > 0)
    const fetched = () => statSync(join(folder, 'steps')).size
    const before = fetched()
    renameSync(folder, `${folder}-elsewhere`)
    await under.until(() => jobOf(under, id)?.problem?.code === 'no_such_folder')
    expect(jobOf(under, id)?.step).toBe('running')
    const alerts = () =>
      Object.values(under.berth.state().activity).filter(({ text }) => /has no checkpoint for/.test(text))
    await world.sim.controls.advance(180)
    await under.until(() => alerts().length > 0)
    expect(alerts()).toMatchObject([
      { detail: expect.stringMatching(/one is wanted every 1 min\. .*folder.* that training is lost\.$/) },
    ])
    renameSync(`${folder}-elsewhere`, folder)
    await expect.poll(fetched, { timeout: 150_000 }).toBeGreaterThan(before)
    await under.until(() => jobOf(under, id)?.problem === undefined)
    expect(jobOf(under, id)?.step).toBe('running')
    writeFileSync(join(sshd.home, 'enough'), '')
    await under.until(() => jobOf(under, id)?.step === 'done')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('whose local folder is gone stops its machine, and downloads its results on a retry', async () => {
    const { world, under, sshd, folder, runProject } = await openProject({
      'berth.yaml': `results: [out.txt]
run: |
  while [ ! -e ../../enough ]; do sleep 0.1; done
  echo trained > out.txt
`,
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.startedAt !== undefined)
    renameSync(folder, `${folder}-elsewhere`)
    writeFileSync(join(sshd.home, 'enough'), '')
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)).toMatchObject({ failedAt: 'fetching', problem: { code: 'no_such_folder' } })
    await under.until(() =>
      Object.values(under.account().instances).every(({ state }) => state === 'stopped'),
    )
    renameSync(`${folder}-elsewhere`, folder)
    await under.run('retryRun', { run: id })
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('trained\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
    expect(world.sim.controls.ledger().instances).toHaveLength(1)
  })

  test('without the service downloads its results, and destroys its machine later', async () => {
    const { world, under, sshd, folder, runProject } = await openProject({
      'berth.yaml': `results: [out.txt]
run: |
  while [ ! -e ../../enough ]; do sleep 0.1; done
  echo trained > out.txt
`,
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.startedAt !== undefined)
    world.sim.controls.setFaults([{ kind: 'reset' }])
    await under.until(() => under.account().connection.status === 'offline')
    writeFileSync(join(sshd.home, 'enough'), '')
    await under.until(() => jobOf(under, id)?.step === 'ending' && jobOf(under, id)?.problem !== undefined)
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('trained\n')
    world.sim.controls.setFaults([])
    await under.until(() => jobOf(under, id)?.step === 'done')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('whose machine is gone refuses a retry and rents no other', async () => {
    const { world, under, runProject } = await openProject({
      'berth.yaml': 'setup: exit 1\nrun: echo done\n',
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    const instance = jobOf(under, id)?.instance ?? 0
    await under.run('destroyInstance', { instance })
    await under.until(() => under.account().instances[instance] === undefined)
    expect(await codeOf(under.run('retryRun', { run: id }))).toBe('no_such_instance')
    expect(world.sim.controls.ledger().instances).toHaveLength(1)
    await under.run('dismissRun', { run: id })
    expect(jobOf(under, id)).toBeUndefined()
  })
})
