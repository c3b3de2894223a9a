import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { answeredDialogs } from '#test/berth/machine.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { lacks } from '#test/needs.ts'
import { ownPublicKey } from '#test/own-public-key.ts'
import { jobOf, write } from '../core/projects/place.ts'
import { type NodeMachine, startMachines } from './machines.ts'

const lacking = lacks(
  'ip',
  'sshd',
  'torchrun',
  'mpirun',
  '/usr/lib/python3/dist-packages/mpi4py',
  '/usr/lib/python3/dist-packages/distributed',
  { what: 'networks of its own', there: mayMakeNetworks() },
)

function mayMakeNetworks(): boolean {
  try {
    execFileSync('unshare', ['--net', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const count = 4
let machines: NodeMachine[] = []
let close: () => Promise<void> = async () => undefined

interface Place {
  world: World
  under: BerthUnderTest
  folder: string
  run(): Promise<string>
  machineOf(instance: number | undefined): NodeMachine | undefined
}

/** A project in a world where the instances are the machines, in the order in which they are rented. */
async function openProject(files: Readonly<Record<string, string>>): Promise<Place> {
  const world = await createWorld({ seed: 7, offers: 500, speed: 5 })
  onTestFinished(() => world.close())
  const folder = join(world.platform.home, 'code', 'sum')
  write(folder, files)
  world.platform.fileDialogs = answeredDialogs({ chooseTarget: () => world.platform.downloads.at(folder) })
  const under = await world.startConnected()
  const joined = new Map<number, NodeMachine>()
  under.berth.onChange(() => {
    for (const { id } of Object.values(under.account().instances)) {
      const machine = machines[joined.size]
      if (joined.has(id) || !machine) continue
      joined.set(id, machine)
      ownPublicKey(join(world.platform.home, 'berth')).then(machine.authorize, () => undefined)
      world.sim.controls.setInstance(id, { ssh: { host: machine.host, port: machine.port } })
      // Boots none before each leads to its machine: at this speed a boot takes minutes.
      if (joined.size === count) void world.sim.controls.advance(300)
    }
  })
  const project = (await under.run('addProject', {})) ?? ''
  async function run() {
    const { content, limits, pricePerHour: price } = await under.run('planProject', { project })
    return under.run('runProject', { project, content, limits, price, secretFiles: [] })
  }
  return { world, under, folder, run, machineOf: instance => joined.get(instance ?? 0) }
}

async function outputs({ under }: Place, id: string): Promise<string> {
  const run = jobOf(under, id)
  const nodes = run ? [run, ...(run.nodes ?? [])] : []
  const texts = nodes.map(async (node, rank) => {
    const page = await under.run('readRun', { run: node.id, place: { from: 0 } }).catch(() => undefined)
    return `node ${rank} ${node.step} ${node.problem?.message ?? ''}\n${page?.text ?? ''}`
  })
  return (await Promise.all(texts)).join('\n')
}

async function untilOver(place: Place, id: string): Promise<void> {
  const isOver = () => ['done', 'failed'].includes(jobOf(place.under, id)?.step ?? '')
  await place.under.until(isOver, 180_000).catch(() => undefined)
}

const spec = (more: string) => `machine: { gpu: RTX 4090 }
nodes: ${count}
results: sum.txt
stop: { hours: 3 }
${more}
`

/** Under Python 3.11, torchrun of torch 1.13 does not start: an enumeration's member of value 0 is not iterated over. */
const mend = `import sys
try:
    if any('torch.distributed.run' in arg or arg.endswith('torchrun') for arg in sys.orig_argv):
        from torch.distributed.elastic.multiprocessing import Std
        Std.from_str = classmethod(lambda cls, text: cls.NONE)
except ImportError:
    pass
`

/** Adds the numbers of all nodes, from 1 on. */
const sum = `import os, torch, torch.distributed as dist
dist.init_process_group('gloo')
number = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(number)
print('node', os.environ['NODE_RANK'], 'of', dist.get_world_size(), 'sum', int(number), flush=True)
if dist.get_rank() == 0:
    open('sum.txt', 'w').write(f'{int(number)} of {dist.get_world_size()}')
`

/** In place of Ray, of which no package exists here: its command counts who joins, until it's stopped. */
const rayCommand = `#!/usr/bin/python3
import os, socket, sys
address = tuple(os.environ['RAY_ADDRESS'].split(':'))
print('ray', *sys.argv[1:], flush=True)
if '--head' in sys.argv:
    server = socket.create_server((address[0], int(address[1])))
    if os.fork():
        sys.exit()
    known = [server]
    while True:
        client, _ = server.accept()
        word = client.recv(9)
        if word == b'join':
            known.append(client)
        elif word == b'count':
            client.sendall(str(len(known)).encode())
            client.close()
        else:
            sys.exit()
with socket.create_connection(address) as head:
    head.sendall(b'join' if sys.argv[1] == 'start' else b'stop')
    head.recv(1)
`
const rayModule = `import os, socket
def init(**_):
    pass
def nodes():
    with socket.create_connection(tuple(os.environ['RAY_ADDRESS'].split(':'))) as head:
        head.sendall(b'count')
        return [{'Alive': True}] * int(head.recv(9))
`

describe.skipIf(lacking)(`a command on four machines${lacking}`, () => {
  beforeEach(async () => {
    ;({ machines, close } = await startMachines(count))
  })
  afterEach(() => close())

  test('is a sum over all of them with torchrun', async () => {
    const place = await openProject({
      'berth.yaml': spec(`env: { PYTHONPATH: ., OMP_NUM_THREADS: 1 }
run: python3 sum.py`),
      'sitecustomize.py': mend,
      'sum.py': sum,
    })
    const id = await place.run()
    await untilOver(place, id)
    expect(jobOf(place.under, id)?.step, await outputs(place, id)).toBe('done')
    expect(readFileSync(join(place.folder, 'sum.txt'), 'utf8')).toBe('10 of 4')
    const third = await place.under.run('readRun', {
      run: jobOf(place.under, id)?.nodes?.[1]?.id ?? '',
      place: { from: 0 },
    })
    expect(third.text).toContain('node 2 of 4 sum 10')
    await place.under.until(() => Object.keys(place.under.account().instances).length === 0)
  })

  test('is a sum over all of them where it is torchrun itself', async () => {
    const place = await openProject({
      'berth.yaml': spec(`env: { PYTHONPATH: ., OMP_NUM_THREADS: 1 }
run: torchrun --nproc_per_node=1 sum.py`),
      'sitecustomize.py': mend,
      'sum.py': sum,
    })
    const id = await place.run()
    await untilOver(place, id)
    expect(jobOf(place.under, id)?.step, await outputs(place, id)).toBe('done')
    expect(readFileSync(join(place.folder, 'sum.txt'), 'utf8')).toBe('10 of 4')
    await place.under.until(() => Object.keys(place.under.account().instances).length === 0)
  })

  test('gets the places of all machines where it is accelerate, of which no package exists here', async () => {
    const place = await openProject({
      'berth.yaml': spec('run: PATH="$PWD:$PATH" accelerate launch --mixed_precision bf16 train.py --lr 3'),
      accelerate: '#!/bin/sh\necho "$@" | tee sum.txt\n',
    })
    chmodSync(join(place.folder, 'accelerate'), 0o755)
    const id = await place.run()
    await untilOver(place, id)
    const told = await outputs(place, id)
    expect(jobOf(place.under, id)?.step, told).toBe('done')
    for (const rank of [0, 1, 2, 3])
      expect(told).toMatch(new RegExp(`--num_machines[ =]4 --machine_rank[ =]${rank}`))
    expect(readFileSync(join(place.folder, 'sum.txt'), 'utf8')).toMatch(
      /^launch .*--mixed_precision bf16 .*train\.py --lr 3$/m,
    )
  })

  test('is a sum over all of them with Open MPI', async () => {
    const place = await openProject({
      'berth.yaml': spec(`engine: mpi
env: { ADDED: 1 }
run: /usr/bin/python3 sum.py "an argument"`),
      'sum.py': `import os, socket, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
number = world.allreduce(world.Get_rank() + int(os.environ['ADDED']))
nodes = world.gather(os.environ['NODE_RANK'])
if world.Get_rank() == 0:
    open('sum.txt', 'w').write(f'{number} of {world.Get_size()} on {sorted(nodes)} with {sys.argv[1]}')
`,
    })
    const id = await place.run()
    await untilOver(place, id)
    expect(jobOf(place.under, id)?.step, await outputs(place, id)).toBe('done')
    expect(readFileSync(join(place.folder, 'sum.txt'), 'utf8')).toBe(
      "10 of 4 on ['0', '1', '2', '3'] with an argument",
    )
  })

  test('finds all of them with a stand-in for Ray, which ends with it', async () => {
    const place = await openProject({
      'berth.yaml': spec(`engine: ray
setup: install -D -m 755 ray-command ~/bin/ray
run: python3 tune.py`),
      'ray-command': rayCommand,
      'ray.py': rayModule,
      'tune.py': `import os, ray
ray.init()
open('sum.txt', 'w').write(f"{len(ray.nodes())} known on node {os.environ['NODE_RANK']}")
`,
    })
    const id = await place.run()
    await untilOver(place, id)
    const told = await outputs(place, id)
    expect(jobOf(place.under, id)?.step, told).toBe('done')
    expect(readFileSync(join(place.folder, 'sum.txt'), 'utf8')).toBe('4 known on node 0')
    expect(told.match(/ray start .*--head/g)).toHaveLength(1)
    expect(told).toContain('ray stop')
  })

  test('is a sum over all of them with Dask', async () => {
    const place = await openProject({
      'berth.yaml': spec(`engine: dask
run: /usr/bin/python3 sum.py`),
      'sum.py': `import os
from distributed import Client
client = Client()
nodes = client.run(lambda: os.environ['NODE_RANK'])
number = sum(client.gather(client.map(lambda each: each * each, range(10))))
open('sum.txt', 'w').write(f'{number} on {sorted(nodes.values())}')
`,
    })
    const id = await place.run()
    await untilOver(place, id)
    expect(jobOf(place.under, id)?.step, await outputs(place, id)).toBe('done')
    expect(readFileSync(join(place.folder, 'sum.txt'), 'utf8')).toBe("285 on ['0', '1', '2', '3']")
  })

  test('ends on all of them when one is killed, which is named, and nothing costs any more', async () => {
    const place = await openProject({
      'berth.yaml': spec(`env: { PYTHONPATH: ., OMP_NUM_THREADS: 1 }
run: python3 forever.py`),
      'sitecustomize.py': mend,
      'forever.py': `import time, torch, torch.distributed as dist
dist.init_process_group('gloo')
while True:
    dist.all_reduce(torch.tensor([1.0]))
    print('together', flush=True)
    time.sleep(0.1)
`,
    })
    const { under, world } = place
    const id = await place.run()
    await under.until(() => jobOf(under, id)?.lastLine === 'together', 120_000)
    const killed = jobOf(under, id)?.nodes?.[1]?.instance ?? 0
    await place.machineOf(killed)?.kill()
    await world.sim.controls.forceStatus(killed, 'offline')
    await untilOver(place, id)
    const run = jobOf(under, id)
    expect(run, await outputs(place, id)).toMatchObject({ step: 'failed', failedAt: 'running' })
    expect(run?.problem?.message).toMatch(/^Node 2 failed: Its host is offline/)
    await under.until(() =>
      Object.values(under.account().instances).every(({ state }) => state === 'stopped'),
    )
    expect(Object.values(under.account().instances).map(one => one.id)).toEqual([run?.instance])
    const running = world.sim.controls.instances().filter(instance => instance['actual_status'] === 'running')
    expect(running).toEqual([])
  })
})
