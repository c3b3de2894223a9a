import { costOfAll, type Ran, ranOf, runsIn } from '#renderer/features/runs/ran.ts'
import { isGoing, isProjectRun } from '#shared/automation/run.ts'
import type { ProjectView } from '#shared/project/project.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'

/** A row of the list: a project, or below it one of its sweeps and runs. */
export type ProjectEntry =
  | { kind: 'project'; id: string; project: ProjectView; runs: number; cost: Micros }
  | Ran

/** Sweeps and runs of a project that are always listed; beyond these only those under way, failed or opened. */
const few = 3

/** Whether it is under way, or its machine may still be billed. */
function isOpenEnded(ran: Ran): boolean {
  const { step } = ran.kind === 'run' ? ran.run : ran.sweep
  if (step === 'failed' || step === 'going' || step === 'halted') return true
  return runsIn(ran).some(isGoing)
}

/**
 * The projects by name, each followed by its sweeps and runs as far as they are listed. @param now epoch seconds of the
 * account's time
 */
export function projectEntries(
  projects: readonly ProjectView[],
  account: AccountView | undefined,
  { opened, now }: { opened: string | undefined; now: number },
): ProjectEntry[] {
  const byName = projects.toSorted((a, b) => a.name.localeCompare(b.name))
  return byName.flatMap(project => {
    const ran = ranOf(account, project.id)
    const runs = ran.flatMap(runsIn)
    const cost = costOfAll(ran, now)
    const listed = ran.filter((one, index) => index < few || isOpenEnded(one) || one.id === opened)
    return [{ kind: 'project', id: project.id, project, runs: runs.length, cost }, ...listed]
  })
}

/** The runs of removed projects, whose machines may still be billed, the newest first. */
export function strayEntries(
  projects: Readonly<Record<string, ProjectView>>,
  account: AccountView | undefined,
): ProjectEntry[] {
  return Object.values(account?.runs ?? {})
    .filter(isProjectRun)
    .filter(({ project }) => projects[project] === undefined)
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .map(run => ({ kind: 'run', id: run.id, project: run.project, run }))
}

/** The place of an entry in the address: `projects/p12`, `projects/p12/x34`. */
export function entryPath(entry: ProjectEntry): string {
  return entry.kind === 'project' ? `projects/${entry.id}` : `projects/${entry.project}/${entry.id}`
}
