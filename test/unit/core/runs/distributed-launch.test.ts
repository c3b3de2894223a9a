import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressIn, launchOf, type Node, whyNoAddress } from '#core/runs/distributed-launch.ts'
import { noAddress } from '#core/runs/messages.ts'
import { engineOf, nodesProblem } from '#shared/project/nodes.ts'
import { onOneMachine } from '#shared/project/sweep.ts'

const nodes: Node[] = [
  { address: '10.0.0.2', link: 'eth0', gpus: 2 },
  { address: '10.0.0.3', link: 'eth0', gpus: 2 },
]
const paths = { environment: 'berth/.x1.env', folder: 'berth/p1', ssh: 'berth/.x1.ssh' }
const launch = (run: string, rank: number, engine?: 'torchrun' | 'ray' | 'dask' | 'mpi' | 'none') =>
  launchOf({ run, engine }, nodes, rank, paths)

test('every node knows its rank and the first node', () => {
  expect(launch('make', 1).environment).toMatchObject({
    MASTER_ADDR: '10.0.0.2',
    MASTER_PORT: '29500',
    NODE_RANK: '1',
    NUM_NODES: '2',
    GPUS_PER_NODE: '2',
    NODE_ADDR: '10.0.0.3',
    NODE_IPS: '10.0.0.2\n10.0.0.3',
    NCCL_SOCKET_IFNAME: 'eth0',
  })
})

test.each([
  ['python train.py', 'python', 'train.py'],
  ['python3 -u src/train.py --lr 1e-4 "a b"', 'python3 -u', 'src/train.py --lr 1e-4 "a b"'],
  ['/opt/conda/bin/python3.11 -m pkg.train --x', '/opt/conda/bin/python3.11', '-m pkg.train --x'],
])('%s is a Python command, which torchrun starts', (run, python, script) => {
  expect(engineOf({ run })).toBe('torchrun')
  expect(launch(run, 0).command).toBe(
    `${python} -m torch.distributed.run --nnodes=$NUM_NODES --node_rank=$NODE_RANK --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT --nproc_per_node=$GPUS_PER_NODE ${script}`,
  )
})

test('options that several machines don’t support are reported', () => {
  expect(nodesProblem({ run: './train.sh', nodes: 2, engine: 'torchrun' })).toContain('torchrun')
  expect(nodesProblem({ run: 'python train.py', nodes: 2, outbid: { elsewhere: 1 } })).toContain('outbid')
  expect(nodesProblem({ run: './train.sh', engine: 'torchrun' })).toBeUndefined()
  expect(nodesProblem({ run: './train.sh', nodes: 2 })).toContain('Set engine: none')
})

test('one machine instead of several has as many GPUs', () => {
  const spec = { run: 'make', nodes: 4, engine: 'ray' as const, machine: { gpu: 'H100', count: 2 } }
  expect(onOneMachine(spec)).toEqual({ run: 'make', machine: { gpu: 'H100', count: 8 } })
})

test('Ray and Dask have the command on the first node, and workers on the others', () => {
  const [head, worker] = [
    launch('python tune.py', 0, 'ray').command,
    launch('python tune.py', 1, 'ray').command,
  ]
  expect(head).toContain('ray start --disable-usage-stats')
  expect(head).toContain('--head --port="$MASTER_PORT"')
  expect(head).toMatch(/\npython tune\.py$/)
  expect(worker).toContain('--address="$RAY_ADDRESS" --block')
  expect(worker).not.toContain('tune.py')
  expect(launch('python sum.py', 0, 'dask').command).toMatch(/\npython sum\.py$/)
  expect(launch('python sum.py', 1, 'dask').command).toContain('distributed.cli.dask_worker')
})

test('bash parses every engine’s scripts', () => {
  for (const engine of ['torchrun', 'ray', 'dask', 'mpi', 'none'] as const)
    for (const rank of [0, 1])
      execFileSync('bash', ['-n'], { input: launch("python a.py 'x y'", rank, engine).command })
})

test('the address is that of the private network', () => {
  const ip = `1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever
3: eth1    inet 172.17.0.4/16 brd 172.17.255.255 scope global eth1
12: eth0@if13    inet 10.0.0.3/24 brd 10.0.0.255 scope global eth0\\ valid
`
  expect(addressIn(ip, undefined, [])).toEqual({ address: '10.0.0.3', link: 'eth0' })
  expect(addressIn(ip, '172.17.0.0/16', [])).toEqual({ address: '172.17.0.4', link: 'eth1' })
  expect(addressIn('2: ib0    inet 192.168.1.4/24 scope global ib0\n', undefined, [])).toEqual({
    address: '192.168.1.4',
    link: 'ib0',
  })
  expect(addressIn('10.0.0.3 172.17.0.4 fe80::1 \n', '10.0.0.0/24', [])).toEqual({
    address: '10.0.0.3',
    link: 'eth0',
  })
  expect(addressIn('', undefined, [])).toBeUndefined()
})

test('a node without an address says whether it lists none, none in the network, or that of another node', () => {
  const why = (text: string) => noAddress(whyNoAddress(text, '10.0.0.0/24', ['10.0.0.2']), '10.0.0.0/24')
  const listed = (address: string) =>
    `1: lo    inet 127.0.0.1/8 scope host lo\n2: eth0    inet ${address}/16 scope global eth0\n`
  expect(why('1: lo    inet 127.0.0.1/8 scope host lo\n').advice).toContain('Install iproute2')
  for (const [address, message] of [
    ['172.17.0.4', 'None of its addresses is in the network of the machines, 10.0.0.0/24: 172.17.0.4.'],
    ['10.0.0.2', 'Its address in the network of the machines, 10.0.0.2, is another node’s, too.'],
  ] as const) {
    expect(why(listed(address))).toMatchObject({ code: 'no_address', message })
    expect(why(listed(address)).advice).not.toContain('iproute2')
  }
})

test('no node’s word puts an address outside the network, or another node’s, into its place', () => {
  const address = fc.oneof(
    fc.constantFrom('203.0.113.66', '169.254.169.254', '127.0.0.1', '10.0.1.9', '10.0.0.2', '0.0.0.0'),
    fc.ipV4(),
    fc.nat({ max: 255 }).map(last => `10.0.0.${last}`),
  )
  const printed = fc
    .array(fc.tuple(fc.constantFrom('eth0', 'eth1', 'lo'), address))
    .map(all =>
      all.map(([link, one], at) => `${at}: ${link}    inet ${one}/24 scope global ${link}\n`).join(''),
    )
  const plain = fc.array(address).map(all => all.join(' '))
  fc.assert(
    fc.property(fc.oneof(printed, plain), text => {
      const found = addressIn(text, '10.0.0.0/24', ['10.0.0.2'])
      if (found) expect(found.address).toMatch(/^10\.0\.0\.(?!2$)\d+$/)
      const free = addressIn(text, undefined, ['10.0.0.2'])?.address
      if (free)
        expect(free).toMatch(/^(10|172\.(1[6-9]|2\d|3[01])|192\.168|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./)
      expect(free).not.toBe('10.0.0.2')
    }),
  )
})

test('MPI’s first node trusts only the servers whose keys Berth asked for', () => {
  const { command } = launch('python a.py', 0, 'mpi')
  expect(command).toContain('StrictHostKeyChecking=yes')
  expect(command).toContain('UserKnownHostsFile=$HOME/berth/.x1.ssh/known_hosts')
})
