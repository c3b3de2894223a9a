import { rate } from '../format/money.ts'
import { duration } from '../format/time.ts'
import type { Micros } from '../spending/money.ts'
import { resultsOf } from './bounds.ts'
import type { ProjectSpec } from './spec.ts'
import { settingsOf } from './sweep.ts'

/** Seconds for which a machine that a run left is kept, beyond the time that the run may wait for the next one. */
const keptAfterMove = 7200

/** Seconds for which a machine that a run left is kept at most, for what only it has. */
export function leftFor({ wait = 0 }: Pick<ProjectSpec, 'wait'>): number {
  return keptAfterMove + wait
}

/** Seconds before announced maintenance at which a run leaves: what it copies may take half of that, and the next machine boots. */
export const leavesBefore = 3600

/** How many machines a run may leave with results that only they have. */
function machinesLeft(spec: ProjectSpec): number {
  return resultsOf(spec).length === 0 ? 0 : (spec.outbid?.elsewhere ?? 0)
}

/**
 * Micro-dollars for the disks of the machines that a run leaves, at most. `disk`: per hour of one; of a sweep, of those that
 * it uses at once.
 */
export function leftCost(spec: ProjectSpec, disk: Micros): Micros {
  return Math.ceil((machinesLeft(spec) * disk * leftFor(spec)) / 3600)
}

/** The sentences of a plan on the machines that the run leaves. */
export function copyFirstWords(spec: ProjectSpec, disk: Micros | undefined): string[] {
  if (machinesLeft(spec) === 0) return []
  const [machine, its] = settingsOf(spec)
    ? ['A machine that one of its runs leaves', 'the disks of all that it uses at once cost']
    : ['The machine that it leaves', 'its disk costs']
  const price = disk === undefined ? '' : `: ${its} ${rate(disk)}`
  return [
    `${machine} is stopped, and kept until its newer results are copied to the next one, at most ${duration(leftFor(spec))}${price}.`,
  ]
}
