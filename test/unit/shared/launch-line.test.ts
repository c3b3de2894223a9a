import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { launchingOf, nodeCommand, nodesProblem } from '#shared/project/nodes.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const joinings = {
  torchrun: [
    '--nnodes=2',
    '--node_rank=1',
    '--master_addr=10.0.0.2',
    '--master_port=29500',
    '--nproc_per_node=4',
  ],
  accelerate: [
    '--num_machines=2',
    '--machine_rank=1',
    '--main_process_ip=10.0.0.2',
    '--main_process_port=29500',
    '--num_processes=8',
    '--multi_gpu',
  ],
}

const before = fc
  .array(
    fc.constantFrom(
      'set -e\n',
      'set -euo pipefail\n',
      'export A=1\n',
      'cd src && ',
      '# note; python x.py\n',
      'pip install -q x;',
      'echo "a; b"\n',
      'cd . || exit 1\n',
      '\n',
    ),
    { maxLength: 3 },
  )
  .map(parts => `A=0\n${parts.join('')}`)
const assigned = fc.constantFrom('', 'B=1 ', "B='x y' C=2 ", 'PYTHONPATH=. ', 'exec ', 'env B=1 ')
const runner = fc.constantFrom(
  '',
  '',
  'uv run ',
  'uv run --with x ',
  'poetry run ',
  'conda run -n base --no-capture-output ',
)
const program = fc.constantFrom<[start: string, by: keyof typeof joinings][]>(
  ['python', 'torchrun'],
  ['python3 -u', 'torchrun'],
  ['torchrun', 'torchrun'],
  ['torchrun --nproc_per_node=4', 'torchrun'],
  ['torchrun --nproc-per-node 4 --max_restarts 2', 'torchrun'],
  ['python -m torch.distributed.run', 'torchrun'],
  ['python3 -m torch.distributed.launch --nproc_per_node=4', 'torchrun'],
  ['accelerate launch', 'accelerate'],
  ['accelerate launch --mixed_precision bf16', 'accelerate'],
  ['accelerate launch --config_file a.yaml --num_processes 8', 'accelerate'],
  ['python -m accelerate.commands.launch --multi_gpu', 'accelerate'],
  ['accelerate launch --use_deepspeed --zero_stage 3', 'accelerate'],
  ['accelerate launch --use_deepspeed --deepspeed_multinode_launcher standard', 'accelerate'],
)
const script = fc.constantFrom('train.py', '"my train.py"', 'src/train.py', '-m pkg.train', './train.py')
const words = fc
  .array(
    fc.constantFrom(
      '--lr 1e-4',
      '--name "a b; c"',
      "'it'\\''s'",
      '--x=$A',
      '--nnodes=7',
      '\\\n  --y',
      '--date "$(date)"',
      'a\\;b',
    ),
    { maxLength: 3 },
  )
  .map(all => all.map(word => ` ${word}`).join(''))
const after = fc.constantFrom(
  '',
  ' 2>&1 | tee log',
  ' > out.txt 2>&1',
  ' # note',
  '\n',
  '; echo done',
  ' && echo "done"',
)

/** What starts with each text, by stand-ins for the programs that write down their arguments. */
function startedBy(folder: string, text: string): string[][] {
  const log = join(folder, 'log')
  writeFileSync(log, '')
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    LOG: log,
    NUM_NODES: '2',
    NODE_RANK: '1',
    MASTER_ADDR: '10.0.0.2',
    MASTER_PORT: '29500',
    GPUS_PER_NODE: '4',
  }
  const { status } = spawnSync('bash', ['--norc', '-c', text], {
    cwd: join(folder, 'project'),
    env,
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  return readFileSync(log, 'utf8')
    .split('\x01')
    .filter(Boolean)
    .map(entry => entry.split('\0').slice(0, -1))
}

function standIns(folder: string): void {
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'project', 'src', 'src', 'src'), { recursive: true })
  const put = (name: string, text: string) => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  for (const name of ['python', 'python3', 'torchrun', 'accelerate'])
    put(name, `printf '%s\\0' ${name} "$@" >> "$LOG"; printf '\\001' >> "$LOG"`)
  for (const name of ['uv', 'poetry', 'conda'])
    put(name, 'shift; while :; do case $1 in -n|--with) shift 2 ;; -*) shift ;; *) exec "$@" ;; esac; done')
  put('pip', 'exit 0')
  put('date', 'echo "one day"')
}

test('whatever starts it, a training is started once on each node, with the same arguments and those that join them', () => {
  const folder = temporaryFolder()
  standIns(folder)
  const lines = fc.tuple(before, assigned, runner, program, script, words, after)
  fc.assert(
    fc.property(lines, ([prepared, variables, within, [start, by], file, options, end]) => {
      const run = `${prepared}${variables}${within}${start} ${file}${options}${end}`
      expect(nodesProblem({ run, nodes: 2 })).toBeUndefined()
      const { text } = nodeCommand({ run })
      const alone = startedBy(folder, run)
      const together = startedBy(folder, text)
      expect(alone).toHaveLength(1)
      expect(together).toHaveLength(1)
      const [[, ...plain] = []] = alone
      const [[, ...joined] = []] = together
      const joining: readonly string[] = [
        ...joinings[by],
        ...(/config_file|zero_stage/.test(start) ? ['--deepspeed_multinode_launcher=standard'] : []),
      ]
      const wanted = new Set(
        /config_file|multi_gpu|use_deepspeed/.test(start)
          ? joining.filter(one => one !== '--multi_gpu')
          : joining,
      )
      for (const option of wanted) if (!/nproc|num_processes/.test(option)) expect(joined).toContain(option)
      const isPlain = start.startsWith('python') && !start.includes('-m')
      const rest = joined.filter(one => !wanted.has(one)).join(' ')
      const was = plain.filter(one => !wanted.has(one)).join(' ')
      expect(isPlain ? rest.replace('-m torch.distributed.run ', '') : rest).toBe(was)
    }),
    { numRuns: 40 },
  )
})

test.each([
  './train.sh',
  'make train',
  'python -c "import train"',
  'python -m pytest',
  'python a.py && python b.py',
  'python prepare.py\npython train.py',
  'for i in 1 2; do python train.py; done',
  'if true; then python train.py; fi',
  '(cd src; python train.py)',
  'python train.py &',
  'python train.py || true',
  'cat x | python train.py',
  'CUDA_VISIBLE_DEVICES=$X python train.py',
  'export CUDA_VISIBLE_DEVICES=0\npython train.py',
  'uv run train.py',
  'srun python train.py',
  'accelerate test',
  'bash -c "python train.py"',
  'python <<END\nEND',
])('what starts %s on several machines is asked, and done as the file says', run => {
  expect(nodesProblem({ run, nodes: 2 })).toContain('Set engine: none')
  expect(nodesProblem({ run, nodes: 2, engine: 'torchrun' })).toContain('torchrun needs')
  expect(nodesProblem({ run })).toBeUndefined()
  expect(launchingOf({ run, engine: 'none' })).toEqual({ engine: 'none', line: run })
  expect(nodesProblem({ run, nodes: 2, engine: 'mpi' })).toBeUndefined()
})

test.each([
  ['deepspeed train.py --deepspeed ds.json', 'SSH'],
  ['python -m deepspeed.launcher.runner train.py', 'SSH'],
  ['accelerate launch --use_deepspeed --deepspeed_hostfile hosts train.py', 'launcher standard'],
  ['accelerate launch --deepspeed_multinode_launcher=pdsh train.py', 'launcher standard'],
  [
    'accelerate launch --use_deepspeed --machine_rank $NODE_RANK --main_process_ip $MASTER_ADDR train.py',
    'launcher standard',
  ],
  ['mpirun -np 8 python train.py', 'engine: mpi'],
  ['A=1 mpiexec python train.py', 'engine: mpi'],
  ['python -m mpi4py train.py', 'engine: mpi'],
  ['lightning run model train.py', 'python train.py'],
  ['python -m lightning run model train.py', 'python train.py'],
  ['fabric run train.py', 'python train.py'],
  ['ray job submit -- python tune.py', 'engine: ray'],
  ['torchrun --standalone train.py', 'of its own'],
  ['torchrun --nnodes=1 --nproc_per_node=4 train.py', 'of its own'],
  ['torchrun --nnodes=$NUM_NODES train.py', 'of its own'],
  ['python -m torch.distributed.launch --rdzv_backend=c10d train.py', 'of its own'],
  ['accelerate launch --num_machines 1 train.py', 'of its own'],
])('the launcher of %s is refused: %s', (run, why) => {
  expect(nodesProblem({ run, nodes: 2 })).toContain(why)
  expect(nodesProblem({ run, nodes: 2, engine: 'mpi' })).toContain('without its launcher')
  expect(nodesProblem({ run, nodes: 2, engine: 'none' })).toBeUndefined()
})

test('a launcher that names all nodes itself stays as it is', () => {
  const run = 'torchrun --nnodes=$NUM_NODES --node_rank $NODE_RANK --master_addr=$MASTER_ADDR train.py'
  expect(launchingOf({ run })).toEqual({ engine: 'none', line: run })
})

test('a command that sees fewer GPUs runs once for each of them', () => {
  const { text } = nodeCommand({ run: 'CUDA_VISIBLE_DEVICES=0,1 python train.py' })
  expect(text).toContain('--nproc_per_node=2 train.py')
})

test('variables that join the nodes are not the file’s', () => {
  const run = 'python train.py'
  expect(nodesProblem({ run, nodes: 2, env: { NODE_RANK: '0', A: '1' } })).toContain('NODE_RANK')
  expect(nodesProblem({ run, nodes: 2, env: { NCCL_SOCKET_IFNAME: 'ib0' } })).toBeUndefined()
  expect(nodesProblem({ run, env: { NODE_RANK: '0' } })).toBeUndefined()
})
