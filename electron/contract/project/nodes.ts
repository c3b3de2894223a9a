import type { Limit } from '../automation/limit.ts'
import { nodeCount } from './engine.ts'
import type { ProjectSpec } from './spec.ts'

/** GPUs of all its machines. */
export function gpusInAll(spec: Pick<ProjectSpec, 'nodes' | 'machine'>): number {
  return nodeCount(spec) * (spec.machine?.count ?? 1)
}

/** The same on one machine with as many GPUs. */
export function onOneMachine(spec: ProjectSpec): ProjectSpec {
  const { nodes: _nodes, engine: _engine, ...rest } = spec
  return { ...rest, machine: { ...spec.machine, count: gpusInAll(spec) } }
}

/** Each machine's part of the stops that are agreed for all of them. */
export function stopsOfNode(stops: readonly Limit[], count: number): Limit[] {
  return stops.map(stop =>
    stop.when.kind === 'cost'
      ? { ...stop, when: { ...stop.when, dollars: Math.max(0.01, stop.when.dollars / count) } }
      : stop,
  )
}
