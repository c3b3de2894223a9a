import { pipelinesOf, type ShellCommand, type ShellWord, shellWordsOf } from './shell-line.ts'

/**
 * What several machines make of a command that one machine would run: the line that starts it on all of them, and what
 * starts it there; or why that is not clear.
 */
export type LaunchLine =
  | { by: 'torchrun' | 'accelerate' | 'itself'; line: string; of: Program }
  | { problem: string; of: Program }

/** What the command is: a launcher starts several processes itself. */
type Program = 'python' | 'launcher' | 'unknown'

/** The options with which a launcher joins the others, from the variables of each node. */
const joining = {
  torchrun:
    '--nnodes=$NUM_NODES --node_rank=$NODE_RANK --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT',
  accelerate:
    '--num_machines=$NUM_NODES --machine_rank=$NODE_RANK --main_process_ip=$MASTER_ADDR --main_process_port=$MASTER_PORT',
}

const unclear =
  'Berth can’t tell what starts this command on several machines. ' +
  'Set engine: none to run it as it is on each of them, or torchrun, mpi, ray or dask'

const isUnclear: LaunchLine = { problem: unclear, of: 'unknown' }

/** Commands before the one that trains, which every machine may run as they are. */
const preparing = new Set(
  `set export unset cd pushd source . conda mamba micromamba module ulimit umask shopt pip pip3 apt apt-get echo printf mkdir
  nvidia-smi true : sleep date hostname pwd ls`.split(/\s+/),
)
/** Commands that only take what it prints. */
const taking = new Set(['tee', 'grep', 'sed', 'awk', 'tail', 'head', 'cat', 'ts'])

/** The line of each node for a command without an engine. */
export function launchLine(run: string): LaunchLine {
  const pipelines = pipelinesOf(run)
  if (!pipelines) return isUnclear
  const mains = pipelines.filter(({ commands }) => !isPreparing(commands))
  const [main, ...others] = mains
  if (!main || others.length > 0) return isUnclear
  const [command, ...takers] = main.commands
  if (!command || takers.some(taker => !taking.has(shellWordsOf(taker)[0]?.text ?? ''))) return isUnclear
  if (pipelines[pipelines.indexOf(main) + 1]?.after === '||') return isUnclear
  return lineOf(run, command)
}

function isPreparing(commands: readonly ShellCommand[]): boolean {
  return commands.every(command => {
    const words = shellWordsOf(command).filter(({ text }) => !isAssignment(text))
    const [first, second] = words.map(({ text }) => text)
    if (first === 'uv') return second === 'sync' || second === 'pip' || second === 'venv'
    if (first === 'conda' || first === 'mamba' || first === 'micromamba') return second !== 'run'
    return first === undefined || preparing.has(first) || first === 'exit'
  })
}

const isAssignment = (text: string) => /^[A-Za-z_]\w*=/.test(text)

function lineOf(run: string, command: ShellCommand): LaunchLine {
  const words = shellWordsOf(command)
  let at = 0
  const first = () => nameOf(words[at]?.text)
  const skipAssignments = () => {
    while (isAssignment(words[at]?.text ?? '')) at++
  }
  skipAssignments()
  while (['exec', 'nohup', 'time', 'env'].includes(first())) {
    at++
    skipAssignments()
  }
  at = afterRunner(words, at)
  const gpus = gpusOf(run, words.slice(0, at))
  if (gpus === undefined) return isUnclear
  if (/^python[\d.]*$/.test(first())) return pythonLine(run, words.slice(at), gpus)
  const launcher = launcherOf(first(), words[at + 1]?.text)
  return launcher === undefined
    ? isUnclear
    : launcherLine(run, launcher, words.slice(launcher === 'accelerate' ? at + 1 : at), gpus)
}

/** Processes of each node: as many as it has GPUs, or as the command lets it see; undefined where that is not known. */
function gpusOf(run: string, before: readonly ShellWord[]): string | undefined {
  if (!run.includes('CUDA_VISIBLE_DEVICES')) return '$GPUS_PER_NODE'
  const seen = before.map(({ text }) => /^CUDA_VISIBLE_DEVICES=(\d+(?:,\d+)*)$/.exec(text)?.[1]).find(Boolean)
  return seen === undefined || run.split('CUDA_VISIBLE_DEVICES').length > 2
    ? undefined
    : String(seen.split(',').length)
}

const nameOf = (word: string | undefined) => word?.split('/').at(-1) ?? ''

/** Options of `uv run` and `conda run` that have a value of their own. */
const withValue =
  /^(?:--with|--with-requirements|--extra|--group|--python|-p|--project|--directory|--env-file|--package|-n|--name|--prefix|--cwd)$/

/** The place after `uv run`, `conda run -n x` and others that start a program in an environment. */
function afterRunner(words: readonly ShellWord[], from: number): number {
  const isRunner =
    /^(?:uv|poetry|pipenv|pixi|pdm|rye|hatch|conda|mamba|micromamba)$/.test(nameOf(words[from]?.text)) &&
    words[from + 1]?.text === 'run'
  if (!isRunner) return from
  let at = from + 2
  while (words[at]?.text.startsWith('-')) at += withValue.test(words[at]?.text ?? '') ? 2 : 1
  return at
}

/** Modules that start several processes themselves, and those that train nothing. */
const launchers: Readonly<Record<string, string>> = {
  'torch.distributed.run': 'torchrun',
  'torch.distributed.launch': 'torchrun',
  'torch.distributed.launcher': 'torchrun',
  'accelerate.commands.launch': 'accelerate',
}
const otherModules: ReadonlySet<string> = new Set(
  [
    'accelerate deepspeed lightning lightning_fabric horovod mpi4py ray dask distributed composer',
    'colossalai torchx sagemaker bagua megatron_launcher pytest unittest pip venv http',
    'json ensurepip timeit jupyter notebook tensorboard streamlit uvicorn gunicorn flask',
  ].flatMap(line => line.split(' ')),
)

function launcherOf(program: string, next: string | undefined): string | undefined {
  if (program === 'torchrun') return program
  if (program === 'accelerate') return next === 'launch' ? program : undefined
  return Object.hasOwn(advice, program) ? program : undefined
}

/** A Python program: `words` begin with its interpreter. */
function pythonLine(run: string, words: readonly ShellWord[], gpus: string): LaunchLine {
  let at = 1
  for (
    let text = words[at]?.text ?? '';
    text.startsWith('-') && text !== '-m';
    text = words[at]?.text ?? ''
  ) {
    if (!/^-(?:[uOBEsSIqbdvP]+|[XW].*)$/.test(text)) return isUnclear
    at += text === '-X' || text === '-W' ? 2 : 1
  }
  const begin = words[at]
  if (begin === undefined) return isUnclear
  if (begin.text === '-m') {
    const module = words[at + 1]?.text ?? ''
    const launcher = launchers[module]
    if (launcher !== undefined) return launcherLine(run, launcher, words.slice(at + 1), gpus)
    if (!/^[A-Za-z_][\w.]*$/.test(module)) return isUnclear
    const [root = ''] = module.split('.', 1)
    if (otherModules.has(root)) return refusedLauncher(root)
  } else if (!/\.py["']?$/.test(begin.text)) return isUnclear
  const start = `-m torch.distributed.run ${joining.torchrun} --nproc_per_node=${gpus} `
  return { by: 'torchrun', of: 'python', line: run.slice(0, begin.start) + start + run.slice(begin.start) }
}

const noNodes = (name: string) =>
  `${name} has options for several machines of its own. Remove them, and Berth adds the right ones, ` +
  `or give them all, with $NODE_RANK, $NUM_NODES and $MASTER_ADDR`

const modes = /^--(?:multi-gpu|cpu|tpu|use-deepspeed|use-fsdp|use-megatron-lm|config-file)$/

/** With which accelerate may use DeepSpeed, and then starts all machines from the first one unless it's told not to. */
const mayDeepspeed = /^--(?:use-deepspeed|config-file)$/
const reaching =
  'DeepSpeed’s launcher reaches other machines by an SSH that they don’t have. ' +
  'Give accelerate --deepspeed_multinode_launcher standard, or set engine: none'

/** A launcher: `words` begin with its name, behind which its options are. */
function launcherLine(run: string, launcher: string, words: readonly ShellWord[], gpus: string): LaunchLine {
  if (launcher !== 'torchrun' && launcher !== 'accelerate') return refusedLauncher(launcher)
  const [name, ...rest] = words
  if (!name) return isUnclear
  const script = rest.findIndex(({ text }) => /\.py["']?$/.test(text) || /^-(?:m|-module)$/.test(text))
  const options = (script < 0 ? rest : rest.slice(0, script)).map(({ text }) =>
    text.replace(/=.*/s, '').replaceAll('_', '-'),
  )
  const own =
    launcher === 'torchrun'
      ? /^--(?:nnodes|node-rank|master-addr|master-port|standalone|rdzv-.*)$/
      : /^--(?:num-machines|machine-rank|main-process-ip|main-process-port|rdzv-.*)$/
  const given = run.slice(name.end)
  const isStandard = /--deepspeed[_-]multinode[_-]launcher[= ]+standard\b/.test(given)
  const named = /^--deepspeed-(?:hostfile|multinode-launcher)$/
  if (!isStandard && options.some(option => named.test(option))) return { problem: reaching, of: 'launcher' }
  if (options.some(option => own.test(option))) {
    const isWhole = /\$\{?NODE_RANK\b/.test(given) && /\$\{?MASTER_ADDR\b/.test(given)
    if (isWhole && !isStandard && options.includes('--use-deepspeed'))
      return { problem: reaching, of: 'launcher' }
    return isWhole
      ? { by: 'itself', of: 'launcher', line: run }
      : { problem: noNodes(launcher), of: 'launcher' }
  }
  const added =
    launcher === 'torchrun'
      ? [joining.torchrun, options.includes('--nproc-per-node') ? '' : `--nproc_per_node=${gpus}`]
      : [
          joining.accelerate,
          options.includes('--num-processes')
            ? ''
            : `--num_processes=$((NUM_NODES * ${gpus.replace('$', '')}))`,
          options.some(option => modes.test(option)) ? '' : '--multi_gpu',
          !isStandard && options.some(option => mayDeepspeed.test(option))
            ? '--deepspeed_multinode_launcher=standard'
            : '',
        ]
  const line = `${run.slice(0, name.end)} ${added.filter(Boolean).join(' ')}${run.slice(name.end)}`
  return { by: launcher, of: 'launcher', line }
}

function refusedLauncher(name: string): LaunchLine {
  return Object.hasOwn(advice, name) ? { problem: advice[name] ?? unclear, of: 'launcher' } : isUnclear
}

const mpiAdvice =
  'mpirun is what engine: mpi starts. Set that, and write the command without it, such as python train.py'
const lightningAdvice =
  'Lightning’s own launcher doesn’t know the other machines. Write python train.py, which torchrun starts, or set engine: none'

/** What to write in place of launchers that Berth can't extend to several machines. */
const advice: Readonly<Record<string, string>> = {
  deepspeed:
    'deepspeed reaches other machines by an SSH that they don’t have. ' +
    'Write python train.py with its options, which torchrun starts, or set engine: none',
  mpirun: mpiAdvice,
  mpiexec: mpiAdvice,
  orterun: mpiAdvice,
  prterun: mpiAdvice,
  mpi4py: mpiAdvice,
  horovodrun: mpiAdvice,
  horovod: mpiAdvice,
  lightning: lightningAdvice,
  lightning_fabric: lightningAdvice,
  fabric: lightningAdvice,
  ray: 'ray is what engine: ray starts. Set that, and write the command without it, such as python tune.py',
  dask: 'dask is what engine: dask starts. Set that, and write the command without it, such as python sum.py',
}
