import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { planCosts } from '#shared/project/plan-costs.ts'
import { codeOf } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject } from '../projects/place.ts'

/** A training that saves on SIGUSR1, and goes on. */
const training = (more: string) => `env: { NAME: last }
before_stop: { signal: USR1, run: 'echo "hook $NAME" >> ~/told', at_most: 20s }
results: out
run: |
  mkdir -p out; > ~/up
  exec sh -c 'trap "echo saved > out/ckpt" USR1; while :; do sleep 0.1; done'
${more}`

async function openTraining(more: string) {
  const place = await openProject({ 'berth.yaml': training(more) })
  const id = await place.runProject()
  await place.under.until(() => existsSync(join(place.sshd.home, 'up')))
  const job = () => jobOf(place.under, id)
  await place.under.until(() => job()?.outputs.includes('command') === true)
  const told = () => existsSync(join(place.sshd.home, 'told'))
  return { ...place, id, job, told }
}

describe.skipIf(noSshd)(`a project’s command has its time before a stop${noSshd}`, () => {
  test('by a limit, which acts so much earlier that the maximum holds', async () => {
    const { world, under, project, job, told } = await openTraining('stop: { hours: 2 }\n')
    const { most = 0 } = planCosts(await under.run('planProject', { project })) ?? {}
    const [limit] = Object.values(under.account().limits)
      .map(({ when }) => when)
      .filter(when => when.kind === 'duration')
    expect(limit).toMatchObject({ seconds: 7180 })
    await world.sim.controls.advance(7200)
    under.berth.pollNow()
    await under.until(() => job()?.waiting?.for === 'save')
    await under.until(() => job()?.step === 'failed')
    expect(told()).toBe(true)
    expect(job()?.problem?.code).toBe('stopped_by_limit')
    expect(job()?.cost.micros).toBeLessThan(most)
  })

  test('by hand, and a command that is ended saves before its results are downloaded', async () => {
    const { sshd, under, folder, id, job } = await openTraining('')
    await under.run('endRun', { run: id })
    await under.until(() => job()?.step === 'done')
    expect(readFileSync(join(sshd.home, 'told'), 'utf8')).toBe('hook last\n')
    expect(readFileSync(join(folder, 'out/ckpt'), 'utf8')).toBe('saved\n')
  })

  test('in a sweep, whose user cancels it, or which reaches its limit', async () => {
    const place = await openProject({ 'berth.yaml': training('stop: { hours: 2 }\nsweep: { seed: [1] }\n') })
    const { world, under, sshd, project } = place
    const { most = 0 } = planCosts(await under.run('planProject', { project })) ?? {}
    const file = (name: string) => join(sshd.home, name)
    const begun = () => under.until(() => existsSync(file('up')) && jobs().at(-1)?.begun === true)
    const jobs = () =>
      Object.values(under.account().runs).map(run => ({ ...run, begun: run.outputs.length > 0 }))
    const id = await place.runProject()
    await begun()
    await under.run('stopSweep', { sweep: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    expect(readFileSync(file('told'), 'utf8')).toBe('hook last\n')
    expect(jobs().map(({ step }) => step)).toEqual(['cancelled'])
    for (const name of ['up', 'told']) rmSync(file(name))
    await under.run('continueSweep', { sweep: id })
    await begun()
    await world.sim.controls.advance(7200)
    under.berth.pollNow()
    await under.until(() => under.account().sweeps[id]?.step === 'halted')
    await under.until(() => jobs().every(({ step }) => step !== 'running'))
    expect(readFileSync(file('told'), 'utf8')).toBe('hook last\n')
    expect(under.account().sweeps[id]?.cost.micros).toBeLessThan(2 * most)
  })

  test('of its machine by the user', async () => {
    const { under, job, told } = await openTraining('')
    const instance = job()?.instance ?? 0
    await under.run('stopInstance', { instance })
    expect(told()).toBe(true)
    await under.until(() => job()?.step === 'failed')
    expect(job()?.problem?.code).toBe('stopped_by_user')
  })

  test('unless that leaves it too little of its limits, which is refused', async () => {
    const { under, project } = await openProject({
      'berth.yaml': 'before_stop: { at_most: 10m }\nrun: x\nstop: { hours: 0.25 }\n',
    })
    expect(await codeOf(under.run('planProject', { project }))).toBe('notice_too_long')
  })
})
