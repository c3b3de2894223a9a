import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ProjectRunView } from '#shared/automation/run.ts'
import { planCosts } from '#shared/project/plan-costs.ts'
import { answeredDialogs } from '#test/berth/machine.ts'
import { codeOf } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { jobOf, write } from '../projects/place.ts'

interface Place {
  world: World
  under: BerthUnderTest
  project: string
  start(): Promise<string>
}

/** A project on machines of the simulator, whose shell plays what it is sent. */
async function openNodes(spec: string, more: { offers?: number; seed?: number } = {}): Promise<Place> {
  const world = await createWorld({ seed: 7, offers: 500, speed: 60, ...more })
  onTestFinished(() => world.close())
  const folder = join(world.platform.home, 'code', 'digits')
  write(folder, { 'berth.yaml': spec, 'train.py': 'print(1)\n' })
  world.platform.fileDialogs = answeredDialogs({ chooseTarget: () => world.platform.downloads.at(folder) })
  const under = await world.startConnected()
  const project = (await under.run('addProject', {})) ?? ''
  async function start() {
    const { content, limits, pricePerHour: price } = await under.run('planProject', { project })
    return under.run('runProject', { project, content, limits, price, secretFiles: [] })
  }
  return { world, under, project, start }
}

const spec = `name: digits
machine: { gpu: RTX 4090 }
nodes: 4
run: python train.py --epochs 1
results: out
stop: { hours: 20, dollars: 40 }
`

function allNodes(run: ProjectRunView | undefined): ProjectRunView[] {
  return run ? [run, ...(run.nodes ?? [])] : []
}

const overlaysOf = ({ api }: World) => api<unknown[]>('GET', '/api/v0/overlay/')

describe('a run on several machines', () => {
  test('rents all of one cluster, runs them together, and leaves nothing', async () => {
    const { world, under, project, start } = await openNodes(spec)
    const plan = await under.run('planProject', { project })
    expect(plan.nodes).toHaveLength(4)
    expect(new Set(plan.nodes?.map(({ offer }) => offer.clusterId)).size).toBe(1)
    expect(new Set(plan.nodes?.map(({ offer }) => offer.machineId)).size).toBe(4)
    expect(plan.pricePerHour).toBe(plan.nodes?.reduce((sum, { price }) => sum + price, 0))
    const id = await start()
    await under.until(() => allNodes(jobOf(under, id)).filter(node => node.step === 'running').length === 4)
    expect(Object.keys(under.account().runs)).toEqual([id])
    expect(await overlaysOf(world)).toMatchObject([{ instances: { length: 4 } }])
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(jobOf(under, id)).toMatchObject({ code: 0, downloadResult: { files: 2 } })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    await expect.poll(() => overlaysOf(world)).toEqual([])
    const cost = jobOf(under, id)?.cost.micros ?? 0
    expect(cost).toBeGreaterThan(0)
    expect(cost).toBeLessThan(planCosts(plan)?.most ?? 0)
    const workers = jobOf(under, id)?.nodes ?? []
    expect(workers.map(({ step }) => step)).toEqual(['done', 'done', 'done'])
    const page = await under.run('readRun', { run: workers[2]?.id ?? '', place: { from: 0 } })
    expect(page.text).toContain('Training on')
  })

  test('keeps all its machines if a poll comes while it starts', async () => {
    const { world, under, start } = await openNodes(spec)
    const { write: writeFile } = world.platform.files
    world.platform.files.write = async (name, text) => {
      if (name.endsWith('/runs.json')) await under.run('refresh', {})
      await writeFile(name, text)
    }
    const id = await start()
    world.platform.files.write = writeFile
    expect(allNodes(jobOf(under, id)).map(({ step }) => step)).toEqual(
      Array.from({ length: 4 }, () => 'waiting'),
    )
    await under.run('cancelRun', { run: id })
    await under.until(() => jobOf(under, id)?.step === 'cancelled')
  })

  test('ends on all machines if one is outbid, and names that one', async () => {
    const { world, under, start } = await openNodes(
      spec.replace('RTX 4090 }', 'RTX 4090, interruptible: true }').replace('--epochs 1', '--epochs 1000'),
    )
    const id = await start()
    await under.until(() => allNodes(jobOf(under, id)).filter(node => node.outputs.length > 0).length === 4)
    await world.sim.controls.outbid(jobOf(under, id)?.nodes?.[1]?.instance ?? 0)
    await under.until(() => jobOf(under, id)?.step === 'failed')
    const run = jobOf(under, id)
    expect(run?.problem?.message).toBe('Node 2 failed: Its machine was outbid.')
    // The first machine is kept, stopped; the others are gone, and so is the network once that one is.
    await under.until(() =>
      Object.values(under.account().instances).every(({ state }) => state === 'stopped'),
    )
    await under.until(() => Object.keys(under.account().instances).join() === String(run?.instance))
    expect(await overlaysOf(world)).toHaveLength(1)
    expect(await codeOf(under.run('retryRun', { run: id }))).toBe('not_failed')
    await under.run('cancelRun', { run: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    await expect.poll(() => overlaysOf(world)).toEqual([])
  })

  test('destroys the other machines if one can’t be rented', async () => {
    const { world, under, start } = await openNodes(spec)
    const { offers } = await under.run('searchOffers', {
      query: {
        type: 'on-demand',
        verifiedOnly: false,
        storage: 20,
        limit: 5000,
        extra: { gpu_name: { eq: 'RTX 4090' }, cluster_id: { neq: null } },
      },
    })
    const id = await start()
    const instances = () => Object.values(under.account().instances)
    const isFirst = ({ label }: { label?: string | undefined }) => label === 'digits 0'
    // The first node has its machine, so it's another one's that fails the run.
    await under.until(() => instances().some(isFirst) && !instances().every(isFirst))
    // From here on nothing else can be rented there, and another node's machine never comes up.
    const rules = offers.map(offer => ({ kind: 'status', status: 404, path: `/asks/${offer.id}/` }))
    world.sim.controls.setFaults(rules as never)
    const other = instances().find(one => !isFirst(one))
    await world.sim.controls.forceStatus(other?.id ?? 0, 'exited')
    await under.until(() => jobOf(under, id)?.step === 'failed', 120_000)
    expect(jobOf(under, id)).toMatchObject({ failedAt: 'waiting', problem: { code: 'node_failed' } })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    await expect.poll(() => overlaysOf(world)).toEqual([])
  })

  test('tries the next cluster if the service can’t create a network in one', async () => {
    const { world, under, start } = await openNodes(
      spec.replace('nodes: 4', 'nodes: 2').replace('{ gpu: RTX 4090 }', '{ price: 2 }'),
    )
    world.sim.controls.setFaults([
      { kind: 'status', status: 400, method: 'POST', path: '^/api/v0/overlay/', times: 1 },
    ] as never)
    const id = await start()
    await under.until(() => jobOf(under, id)?.step === 'done', 120_000)
    const made = world.requests('POST', '/overlay')
    expect(made.map(({ status }) => status)).toEqual([400, 200])
  })

  test('says that no cluster has room, and offers one machine with as many GPUs', async () => {
    const { under, project } = await openNodes(spec.replace('{ gpu: RTX 4090 }', '{ count: 2 }'))
    const plan = await under.run('planProject', { project })
    expect(plan).toMatchObject({ offers: [], problem: { code: 'no_cluster' } })
    expect(plan.alone?.offer.gpuCount).toBe(8)
    const alone = await under.run('planProject', { project, change: { oneMachine: true } })
    expect(alone).toMatchObject({ offer: { gpuCount: 8 } })
  })

  test('is cancelled on all machines', async () => {
    const { world, under, start } = await openNodes(spec.replace('--epochs 1', '--epochs 1000'))
    const id = await start()
    await under.until(() => Object.keys(under.account().instances).length === 4)
    await under.run('cancelRun', { run: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    await expect.poll(() => overlaysOf(world)).toEqual([])
    await under.run('dismissRun', { run: id })
    expect(under.account().runs).toEqual({})
  })
})
