import type { Limit } from '../automation/limit.ts'
import { type Micros, micros } from '../spending/money.ts'
import { boundOf, dearestOf, limitsOf } from './bounds.ts'
import type { Engine, ProjectSpec } from './spec.ts'

/** The part of a spec that says how several machines run it. */
interface NodesSpec {
  nodes?: number
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

/** GPUs of all its machines. */
export function gpusInAll(spec: Pick<ProjectSpec, 'nodes' | 'machine'>): number {
  return nodeCount(spec) * (spec.machine?.count ?? 1)
}

/** The same on one machine with as many GPUs. */
export function onOneMachine(spec: ProjectSpec): ProjectSpec {
  const { nodes: _nodes, engine: _engine, ...rest } = spec
  return { ...rest, machine: { ...spec.machine, count: gpusInAll(spec) } }
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
    return 'torchrun starts a command of one line, such as python train.py'
  if ((spec.outbid?.elsewhere ?? 0) > 0) return 'several machines cannot move elsewhere, so leave out outbid'
  if (spec.sweep !== undefined || spec.runs !== undefined)
    return 'a sweep runs each setting on one machine, so leave out nodes'
  if (spec.keep !== undefined) return 'several machines do not wait for the next run, so leave out keep'
  if (spec.volume !== undefined) return 'a volume is on one machine, so leave out volume'
  return undefined
}

/** Each machine's part of the stops that are agreed for all of them. */
export function stopsOfNode(stops: readonly Limit[], count: number): Limit[] {
  return stops.map(stop =>
    stop.when.kind === 'cost'
      ? { ...stop, when: { ...stop.when, dollars: Math.max(0.01, stop.when.dollars / count) } }
      : stop,
  )
}

/** The highest cost of several machines in all, by their prices per hour; undefined without a limit. */
export function mostOfNodes(
  spec: ProjectSpec,
  stops: readonly Limit[],
  prices: readonly Micros[],
): Micros | undefined {
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
  const bound = boundOf(stops, sum(prices.map(price => dearestOf(spec, price) ?? price)))
  if (bound === undefined) return undefined
  return bound + sum(prices.map(price => micros(limitsOf(spec, price).ceiling)))
}
