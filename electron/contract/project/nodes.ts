import * as v from 'valibot'

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
  outbid?: { elsewhere: number }
  volume?: unknown
  sweep?: unknown
  runs?: number
  keep?: number
}

/** The number of machines that run it. */
export function nodeCount({ nodes = 1 }: Pick<NodesSpec, 'nodes'>): number {
  return nodes
}

/** A command of one line that runs a Python file or module: its interpreter with options, and the rest. */
const pythonCommand =
  /^(\S*python[\d.]*(?:[ \t]+-[uOBEsSIq]+)*)[ \t]+((?:-m[ \t]+[\w.]+|[^\s'"-][^\s'"]*\.py)(?:[ \t].*)?)$/

/** The interpreter and its arguments of a command that runs a Python file or module; undefined for any other. */
export function pythonParts(run: string): { python: string; script: string } | undefined {
  const [, python, script] = pythonCommand.exec(run.trim()) ?? []
  return python === undefined || script === undefined ? undefined : { python, script }
}

/** What starts the command: as the file says, else torchrun for a Python command. */
export function engineOf({ engine, run }: Pick<NodesSpec, 'engine' | 'run'>): Engine {
  return engine ?? (pythonParts(run) ? 'torchrun' : 'none')
}

/** Why a spec cannot run on several machines; undefined where it can. */
export function nodesProblem(spec: NodesSpec): string | undefined {
  if (nodeCount(spec) === 1) return undefined
  if (engineOf(spec) === 'torchrun' && !pythonParts(spec.run))
    return 'torchrun needs a command of one line, such as python train.py'
  if ((spec.outbid?.elsewhere ?? 0) > 0)
    return 'a run on several machines can’t move elsewhere, so remove outbid'
  if (spec.sweep !== undefined || spec.runs !== undefined)
    return 'a sweep runs each setting on one machine, so remove nodes'
  if (spec.keep !== undefined) return 'several machines don’t wait for the next run, so remove keep'
  if (spec.volume !== undefined) return 'a volume is on one machine, so remove volume'
  return undefined
}
