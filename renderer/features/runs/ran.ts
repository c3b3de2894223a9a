import type { ProjectRunView } from '#shared/automation/run.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { runCost, runsOfProject } from './runWords.ts'

/** What a project ran: a sweep with its runs, or a run that belongs to none. */
export type Ran =
  | { kind: 'sweep'; id: string; project: string; sweep: SweepView; runs: readonly ProjectRunView[] }
  | { kind: 'run'; id: string; project: string; run: ProjectRunView }

/** A project's sweeps, and its runs that belong to none of them, the newest first. */
export function ranOf(account: AccountView | undefined, project: string): Ran[] {
  const runs = runsOfProject(account?.runs ?? {}, project)
  const sweeps = Object.values(account?.sweeps ?? {}).filter(sweep => sweep.project === project)
  const single = runs.filter(({ sweep }) => sweep === undefined || account?.sweeps[sweep.id] === undefined)
  return [
    ...sweeps.map(sweep => ({
      kind: 'sweep' as const,
      id: sweep.id,
      project,
      sweep,
      runs: runs.filter(run => run.sweep?.id === sweep.id),
    })),
    ...single.map(run => ({ kind: 'run' as const, id: run.id, project, run })),
  ].sort((a, b) => createdAt(b) - createdAt(a))
}

function createdAt(ran: Ran): number {
  return ran.kind === 'run' ? ran.run.createdAt : ran.sweep.createdAt
}

/** The runs of a sweep, or the one run. */
export function runsIn(ran: Ran): readonly ProjectRunView[] {
  return ran.kind === 'run' ? [ran.run] : ran.runs
}

/**
 * What it cost up to a moment of the account's time, in epoch seconds: a sweep with the machines that waited for its
 * next run, and with failed attempts to rent.
 */
export function ranCost(ran: Ran, at: number): Micros {
  return runCost(ran.kind === 'run' ? ran.run : ran.sweep, at)
}

/** What all of it cost. */
export function costOfAll(all: readonly Ran[], at: number): Micros {
  return all.reduce((sum, ran) => sum + ranCost(ran, at), 0)
}
