import type { Limit } from '../automation/limit.ts'
import { type Micros, micros } from '../spending/money.ts'
import { boundOf, dearestOf, limitsOf } from './bounds.ts'
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
