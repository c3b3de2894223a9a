import * as v from 'valibot'
import { launchLine } from './launch-line.ts'

/** GPUs of all its machines. */
export function gpusInAll(spec: Pick<NodesSpec, 'nodes' | 'machine'>): number {
  return nodeCount(spec) * (spec.machine?.count ?? 1)
}

/** What starts a command on several machines. */
export const Engine = v.picklist(
  ['torchrun', 'ray', 'dask', 'mpi', 'none'],
  'is torchrun, ray, dask, mpi or none',
)
export type Engine = v.InferOutput<typeof Engine>

/** The part of a spec that says how several machines run it. */
interface NodesSpec {
  nodes?: number
  machine?: { count?: number }
  engine?: Engine
  run: string
  env?: Readonly<Record<string, unknown>>
  outbid?: { elsewhere: number }
  volume?: unknown
  sweep?: unknown
  runs?: number
  keep?: number
  retry?: unknown
  wait?: unknown
  before_stop?: unknown
}

/** The number of machines that run it. */
export function nodeCount({ nodes = 1 }: Pick<NodesSpec, 'nodes'>): number {
  return nodes
}

/** What starts a command on several machines, and the text of each node that runs it. */
export interface Launching {
  engine: Engine
  line: string
}

/** What several machines do with a spec's command, or why that is not clear: the file says, or the command itself. */
export function launchingOf({
  engine,
  run,
}: Pick<NodesSpec, 'engine' | 'run'>): Launching | { problem: string } {
  if (engine === 'none' || engine === 'ray' || engine === 'dask') return { engine, line: run }
  const found = launchLine(run)
  if (engine === 'mpi')
    return found.of === 'launcher'
      ? {
          problem:
            'engine: mpi starts the command itself, so write it without its launcher, such as python train.py',
        }
      : { engine, line: run }
  if ('problem' in found) {
    const needs =
      found.of === 'launcher' ? found.problem : 'torchrun needs a Python command, such as python train.py'
    return { problem: engine === undefined ? found.problem : needs }
  }
  if (engine === undefined) return { engine: found.by === 'torchrun' ? 'torchrun' : 'none', line: found.line }
  return found.by === 'accelerate'
    ? { problem: 'the command starts with accelerate, so remove engine: torchrun' }
    : { engine, line: found.line }
}

/** What starts the command: as the file says, else what the command shows; none where it is not clear. */
export function engineOf(spec: Pick<NodesSpec, 'engine' | 'run'>): Engine {
  const launching = launchingOf(spec)
  return 'problem' in launching ? (spec.engine ?? 'none') : launching.engine
}

/** The text that starts the command on the nodes, as plans show it, and which of them run it. */
export function nodeCommand(spec: Pick<NodesSpec, 'engine' | 'run'>): { on: string; text: string } {
  const launching = launchingOf(spec)
  const text = 'problem' in launching ? spec.run : launching.line
  const on = {
    torchrun: 'Every node runs, once for each GPU',
    none: 'Every node runs',
    mpi: 'Node 0 starts with mpirun, on every node and once for each GPU',
    ray: 'Node 0 runs, with Ray on every node',
    dask: 'Node 0 runs, with a Dask worker on every node',
  }[engineOf(spec)]
  return { on, text }
}

/** The variables by which the nodes find each other: Berth sets them. */
const nodeVariables = new Set(
  `MASTER_ADDR MASTER_PORT NODE_RANK NUM_NODES GPUS_PER_NODE NODE_ADDR NODE_IPS DASK_SCHEDULER_ADDRESS RAY_ADDRESS
  RAY_AUTH_MODE RAY_AUTH_TOKEN`.split(/\s+/),
)

/** Why a spec cannot run on several machines; undefined where it can. */
export function nodesProblem(spec: NodesSpec): string | undefined {
  if (nodeCount(spec) === 1) return undefined
  const launching = launchingOf(spec)
  if ('problem' in launching) return launching.problem
  const taken = Object.keys(spec.env ?? {}).filter(name => nodeVariables.has(name))
  if (taken.length > 0) return `Berth sets ${taken.join(', ')} on several machines, so remove it from env`
  if ((spec.outbid?.elsewhere ?? 0) > 0)
    return 'a run on several machines can’t move elsewhere, so remove outbid'
  if (spec.sweep !== undefined || spec.runs !== undefined)
    return 'a sweep runs each setting on one machine, so remove nodes'
  if (spec.retry !== undefined) return 'a command on several machines isn’t tried again, so remove retry'
  if (spec.before_stop !== undefined)
    return 'several machines aren’t told before a stop, so remove before_stop'
  if (spec.wait !== undefined) return 'several machines of one cluster aren’t waited for, so remove wait'
  if (spec.keep !== undefined) return 'several machines don’t wait for the next run, so remove keep'
  if (spec.volume !== undefined) return 'a volume is on one machine, so remove volume'
  return undefined
}
