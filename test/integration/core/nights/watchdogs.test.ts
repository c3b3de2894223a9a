import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agreedCosts, planCosts } from '#shared/project/plan-costs.ts'
import { answeredDialogs } from '#test/berth/machine.ts'
import { type BerthUnderTest, createWorld } from '#test/berth/world.ts'
import { jobOf, write } from '../projects/place.ts'

const spec = (stop: string, more = '') => `name: digits
machine: { gpu: RTX 4090 }
run: python train.py --epochs 1000000
stop: ${stop}
${more}`

/** A run in progress on machines of the simulator, which plays their watchdogs in its own time. */
async function startRun(text: string) {
  const world = await createWorld({ seed: 7, offers: 500, speed: 60 })
  onTestFinished(() => world.close())
  world.sim.controls.setCredit(1000)
  const folder = join(world.platform.home, 'code', 'digits')
  write(folder, { 'berth.yaml': text, 'train.py': 'print(1)\n' })
  world.platform.fileDialogs = answeredDialogs({ chooseTarget: () => world.platform.downloads.at(folder) })
  const under = await world.startConnected()
  const project = (await under.run('addProject', {})) ?? ''
  const plan = await under.run('planProject', { project })
  const { content, limits, pricePerHour: price } = plan
  const costs = planCosts(plan)
  const terms = { content, limits, price, ...agreedCosts(costs), secretFiles: [] }
  const id = await under.run('runProject', { project, ...terms })
  /** Berth is dead for a day, and nobody stops the machines but they themselves. */
  async function dieForADay(berth: BerthUnderTest): Promise<string[]> {
    await berth.close()
    for (let hour = 0; hour < 24; hour += 1) await world.sim.controls.advance(3600)
    return world.sim.controls.instances().map(({ actual_status }) => String(actual_status))
  }
  const charged = () => world.sim.controls.ledger().micro_dollars
  return { world, under, id, most: costs?.most ?? 0, dieForADay, charged }
}

const watchers = (under: BerthUnderTest) =>
  Object.values(under.account().watchdogs).filter(
    ({ step, request }) => step === 'watching' && request.at !== undefined,
  )

describe('the watchdogs of a run whose computer is gone for a day', () => {
  test.for([
    ['dollars', '{ dollars: 0.5 }'],
    ['hours', '{ hours: 3 }'],
  ] as const)('stop its machine at its %s', async ([, stop]) => {
    const { world, under, id, most, dieForADay, charged } = await startRun(spec(stop))
    await under.until(() => jobOf(under, id)?.step === 'running' && watchers(under).length === 1)
    expect(await dieForADay(under)).toEqual(['stopped'])
    expect(charged()).toBeLessThanOrEqual(most)
    const again = await world.start()
    await again.until(() => jobOf(again, id)?.step === 'failed')
    const { problem } = jobOf(again, id) ?? {}
    expect(problem?.code).toBe('stopped_by_limit')
    if (stop.includes('dollars')) expect(problem?.message).toContain('its cost reached $0.50.')
  })

  test('stop each of several machines at its share', async () => {
    const { under, most, dieForADay, charged } = await startRun(spec('{ dollars: 2 }', 'nodes: 2\n'))
    await under.until(() => watchers(under).length === 2)
    expect(await dieForADay(under)).toEqual(['stopped', 'stopped'])
    expect(charged()).toBeLessThanOrEqual(most)
  })

  test('stop a machine that had not booted when Berth ended', async () => {
    const { under, most, dieForADay, charged } = await startRun(spec('{ dollars: 0.5 }'))
    await under.until(() => Object.keys(under.account().instances).length === 1)
    expect(await dieForADay(under)).toEqual(['stopped'])
    expect(charged()).toBeLessThanOrEqual(most)
  })
})
