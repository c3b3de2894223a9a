import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject, write } from '../projects/place.ts'

const spec = `setup: cat requirements.txt >> prepared
run: |
  echo begun
  cat prepared train.py > out.txt
results: out.txt
keep: 20m
stop: { hours: 8 }
`
const files = { 'berth.yaml': spec, 'requirements.txt': 'torch\n', 'train.py': 'one\n' }

describe.skipIf(noSshd)(`a machine that waits${noSshd}`, () => {
  test('runs the project again, repeats only a changed set-up, and is ended by the user', async () => {
    const place = await openProject({ ...files, 'lib/old_mod.py': 'old\n' })
    const { world, under, sshd, folder, project, runProject } = place
    const waiting = () => Object.values(under.account().waiting)
    const result = () => readFileSync(join(folder, 'out.txt'), 'utf8')
    const first = await runProject()
    await under.until(() => jobOf(under, first)?.step === 'done' && waiting().length === 1)
    const instance = jobOf(under, first)?.instance ?? 0
    expect(waiting()).toMatchObject([{ instance, project, action: 'destroy' }])
    expect(under.account().instances[instance]?.state).toBe('running')
    const ending = () => Object.values(under.account().limits).filter(({ action }) => action === 'destroy')
    await under.until(() => ending().length > 0)
    expect(ending()).toMatchObject([{ instance, asleep: true, when: { at: waiting()[0]?.until } }])
    expect(result()).toBe('torch\none\n')

    // A run isn't charged for the time before it: ten minutes of waiting outlast the second one by far.
    const { costPerHour = 0 } = under.account().instances[instance] ?? {}
    await world.sim.controls.advance(600)
    const before = (jobOf(under, first)?.cost.micros ?? 0) + costPerHour / 6

    // What changed is sent, and the set-up read none of it.
    write(folder, { 'train.py': 'two\n' })
    expect((await under.run('planProject', { project })).waiting).toMatchObject({ instance })
    const { sweep } = await under.run('planProject', { project, change: { runs: 3, atOnce: 2 } })
    expect(sweep).toMatchObject({ waiting: [{ instance, pricePerHour: expect.any(Number) }] })
    expect(sweep?.machines).toHaveLength(1)
    const second = await runProject()
    await under.until(() => jobOf(under, second)?.lastLine === 'begun')
    expect(jobOf(under, second)?.instance).toBe(instance)
    await under.until(() => jobOf(under, second)?.step === 'done' && waiting().length === 1)
    expect(result()).toBe('torch\ntwo\n')
    expect(jobOf(under, second)?.cost.micros).toBeLessThan(before)

    write(folder, { 'requirements.txt': 'jax\n' })
    const third = await runProject()
    await under.until(() => jobOf(under, third)?.step === 'done' && waiting().length === 1)
    expect(result()).toBe('torch\njax\ntwo\n')

    // The set-up may read what it doesn't name, and what was deleted here goes there.
    write(folder, { 'deps/base.txt': 'torch 2\n' })
    rmSync(join(folder, 'lib'), { recursive: true })
    const modules = join(sshd.home, 'berth', project, 'lib')
    expect(existsSync(modules)).toBe(true)
    const fourth = await runProject()
    await under.until(() => jobOf(under, fourth)?.step === 'done' && waiting().length === 1)
    expect(result()).toBe('torch\njax\njax\ntwo\n')
    expect(existsSync(modules)).toBe(false)
    expect(world.sim.controls.ledger().instances).toHaveLength(1)

    await under.run('endWaiting', { instance })
    await under.until(() => Object.keys(under.account().instances).length === 0 && waiting().length === 0)
  })

  test('keeps its files where its user stops it, as they are told', async () => {
    const { world, under, runProject } = await openProject(files)
    const id = await runProject()
    await under.until(
      () => jobOf(under, id)?.step === 'done' && Object.keys(under.account().waiting).length === 1,
    )
    const instance = jobOf(under, id)?.instance ?? 0
    await under.run('stopInstance', { instance })
    await under.until(() => under.account().instances[instance]?.state === 'stopped')
    await under.until(() => under.texts().includes(`#${instance} no longer waits for the next run`))
    expect(under.account().waiting).toEqual({})
    // Beyond the time for which it was to wait.
    await world.sim.controls.advance(1300)
    await under.poll(3)
    expect(under.account().instances[instance]?.state).toBe('stopped')
  })

  test('ends on time even while Berth is closed, and isn’t used by a run that needs another; and with its project', async () => {
    const { world, under, folder, runProject } = await openProject(files, undefined, {}, 3)
    const waiting = () => Object.values(under.account().waiting)
    const first = await runProject()
    await under.until(() => jobOf(under, first)?.step === 'done' && waiting().length === 1)
    write(folder, { 'berth.yaml': `disk: 30\n${spec}` })
    const second = await runProject()
    await under.until(() => jobOf(under, second)?.step === 'done' && waiting().length === 2)
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
    await world.sim.controls.advance(1300)
    await under.until(() => Object.keys(under.account().instances).length === 0 && waiting().length === 0)

    const third = await runProject()
    await under.until(() => jobOf(under, third)?.step === 'done' && waiting().length === 1)
    await under.run('removeProject', { project: jobOf(under, third)?.project ?? '' })
    await under.until(() => Object.keys(under.account().instances).length === 0 && waiting().length === 0)
  })

  test('isn’t kept if the user switched that off, or after a failed run', async () => {
    const { under, project, folder, runProject } = await openProject(files, undefined, {}, 2)
    const { content, limits } = await under.run('planProject', { project, change: { keep: 0 } })
    const id = await under.run('runProject', {
      project,
      content,
      limits,
      change: { keep: 0 },
      secretFiles: [],
    })
    await under.until(() => jobOf(under, id)?.step === 'done')
    await under.until(() => Object.keys(under.account().instances).length === 0)

    write(folder, { 'berth.yaml': 'run: exit 3\nkeep: 20m\n' })
    const failed = await runProject()
    await under.until(() => jobOf(under, failed)?.step === 'failed')
    expect(under.account().waiting).toEqual({})
    expect(Object.values(under.account().instances)).toMatchObject([{ state: 'stopped' }])
  })
})
