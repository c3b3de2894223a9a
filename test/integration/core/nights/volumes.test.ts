import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { planCosts, volumePrice } from '#shared/project/plan-costs.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { everCreated } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject, type ProjectPlace, write } from '../projects/place.ts'

const machine = 'machine: { gpu: [RTX 4090, RTX 3090, RTX 3080], price: 5, verified: false, reliability: 50 }'

/** A project in a world with volumes, and a folder that stands for the place where one is mounted. */
async function openWithVolumes(spec: (at: string) => string): Promise<ProjectPlace & { at: string }> {
  const at = realpathSync(mkdtempSync(join(tmpdir(), 'berth-volume-')))
  onTestFinished(() => rmSync(at, { recursive: true, force: true }))
  const place = await openProject({ 'berth.yaml': spec(at) }, undefined, {
    deployment: publicProfile,
    limits: false,
  })
  return { ...place, at }
}

async function runToItsEnd({ under, runProject }: ProjectPlace): Promise<number | undefined> {
  const id = await runProject()
  await under.until(() => jobOf(under, id)?.step === 'done')
  return jobOf(under, id)?.most
}

describe.skipIf(noSshd)(`a project with a volume${noSshd}`, () => {
  test('creates it with the first machine; the next run uses that machine and its files', async () => {
    const place = await openWithVolumes(
      at => `${machine}
volume: { name: datasets, at: ${at}, size: 30 }
cache: ~/.cache/hub
run: |
  cat ~/.cache/hub/model >> seen.txt 2>&1 || true
  mkdir -p ~/.cache/hub && echo weights > ~/.cache/hub/model
results: seen.txt
stop: { hours: 2 }
`,
    )
    const { under, project, folder, at, sshd } = place
    const before = await under.run('planProject', { project })
    expect(before.volume).toEqual({ name: 'datasets', at, size: 30 })
    const estimated = volumePrice(before.volume, before.offer) ?? 0
    expect(await runToItsEnd(place)).toBe(planCosts(before)?.most)
    expect(readFileSync(join(folder, 'seen.txt'), 'utf8')).toContain('No such file')
    expect(readFileSync(join(at, '.berth-cache/.cache/hub/model'), 'utf8')).toBe('weights\n')

    const [volume] = await under.run('listVolumes', {})
    expect(volume).toMatchObject({ label: 'datasets', size: 30 })
    const plan = await under.run('planProject', { project })
    expect(plan.volume).toMatchObject({ id: volume?.id, machineId: volume?.machineId, size: 30 })
    expect(Math.abs(estimated - (plan.volume?.costPerHour ?? 0))).toBeLessThan(2)
    expect(new Set(plan.offers.map(({ offer }) => offer.machineId))).toEqual(new Set([volume?.machineId]))

    // Another machine has a home folder of its own.
    rmSync(join(sshd.home, '.cache'), { recursive: true })
    await runToItsEnd(place)
    expect(readFileSync(join(folder, 'seen.txt'), 'utf8')).toContain('weights')
    expect(await under.run('listVolumes', {})).toHaveLength(1)
  })

  test('deletes the one of a machine that failed, and the next run mounts the other', async () => {
    const place = await openWithVolumes(
      at => `${machine}\nvolume: { name: datasets, at: ${at}, size: 30 }\nrun: 'true'\nstop: { hours: 2 }\n`,
    )
    const { world, under, project, runProject } = place
    const id = await runProject()
    await under.until(() => Object.keys(under.account().instances).length > 0)
    const [dropped] = Object.values(under.account().instances)
    await world.sim.controls.forceStatus(dropped?.id ?? 0, 'exited')
    await under.until(() => jobOf(under, id)?.step === 'done')
    // Two machines, each with a volume.
    expect(everCreated(world)).toBe(4)
    const machines = async () => (await under.run('listVolumes', {})).map(({ machineId }) => machineId)
    await vi.waitFor(async () => expect(await machines()).toHaveLength(1), { timeout: 45_000, interval: 500 })
    const [used] = await machines()
    expect(used).not.toBe(dropped?.machineId)
    const plan = await under.run('planProject', { project })
    expect(plan.volume?.machineId).toBe(used)
  })

  test('is planned only if berth.yaml names the volume to mount', async () => {
    const place = await openWithVolumes(at => `${machine}\nvolume: datasets:${at}\nrun: 'true'\n`)
    const { under, project, folder, at } = place
    const refused = (code: string) =>
      expect(under.run('planProject', { project })).rejects.toMatchObject({ problem: { code } })
    await refused('no_such_volume')
    const created = `volume: { name: datasets, at: ${at}, size: 10 }\nrun: 'true'\n`
    write(folder, { 'berth.yaml': `${machine}\n${created}runs: 3\n` })
    await refused('new_volume_for_many')
    write(folder, {
      'berth.yaml': `${machine}\nvolume: { name: datasets, at: ${at}, size: 10 }\nrun: 'true'\n`,
    })
    await runToItsEnd(place)
    const [volume] = await under.run('listVolumes', {})
    write(folder, { 'berth.yaml': `${machine}\nvolume: "#${volume?.id}:${at}"\nrun: 'true'\n` })
    expect((await under.run('planProject', { project })).volume).toMatchObject({ id: volume?.id })
    write(folder, { 'berth.yaml': `machine: { gpu: No Such GPU }\nvolume: datasets:${at}\nrun: 'true'\n` })
    expect(await under.run('planProject', { project })).toMatchObject({
      offers: [],
      problem: { code: 'nothing_on_machine' },
    })
  })
})
