import { gpusInAll } from './nodes.ts'
import type { ProjectSpec, SpecChange } from './spec.ts'

/** The values of a run's settings, by their names, as the command gets them. */
export type Setting = Readonly<Record<string, string>>

/** Machines that run a sweep at once where nothing says how many, at most. */
const usualAtOnce = 8

/** A file's content with the options that override it. */
export function changedSpec(spec: ProjectSpec, change: SpecChange = {}): ProjectSpec {
  const { sweep, runs, atOnce, keep, start, wait, nodes, oneMachine } = change
  const changed = { ...spec }
  if (sweep !== undefined) changed.sweep = sweep
  if (runs !== undefined) changed.runs = runs
  if (atOnce !== undefined) changed.at_once = atOnce
  if (keep !== undefined) changed.keep = keep
  if (keep === 0) delete changed.keep
  if (start !== undefined) changed.start = start
  if (start === 'now') delete changed.start
  if (wait !== undefined) changed.wait = wait
  if (wait === 0) delete changed.wait
  if (nodes !== undefined) changed.nodes = nodes
  return oneMachine ? onOneMachine(changed) : changed
}

/** The setting of each run of a sweep, in their order; undefined for a project that runs once. */
export function settingsOf({ sweep, runs = 1 }: Pick<ProjectSpec, 'sweep' | 'runs'>): Setting[] | undefined {
  if (sweep === undefined && runs === 1) return undefined
  return combinations(sweep).flatMap(setting => Array.from({ length: runs }, () => setting))
}

function combinations(sweep: ProjectSpec['sweep']): Setting[] {
  if (sweep === undefined) return [{}]
  if (Array.isArray(sweep)) return sweep
  return Object.entries(sweep).reduce<Setting[]>(
    (all, [name, values]) => all.flatMap(setting => values.map(value => ({ ...setting, [name]: value }))),
    [{}],
  )
}

/** How many machines run a sweep at once, at most. */
export function atOnceOf({ at_once }: Pick<ProjectSpec, 'at_once'>, runs: number): number {
  return Math.min(runs, at_once ?? usualAtOnce)
}

/** `lr=0.0001 seed=2`. */
export function settingWords(setting: Setting): string {
  return Object.entries(setting)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/** A spec for one machine with as many GPUs as all its nodes. */
export function onOneMachine(spec: ProjectSpec): ProjectSpec {
  const { nodes: _nodes, engine: _engine, ...rest } = spec
  return { ...rest, machine: { ...spec.machine, count: gpusInAll(spec) } }
}
