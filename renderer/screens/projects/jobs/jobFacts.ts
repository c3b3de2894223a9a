import { named } from '#contract/format/list.ts'
import { money } from '#contract/format/money.ts'
import { count, counted } from '#contract/format/size.ts'
import { duration } from '#contract/format/time.ts'
import type { JobView } from '#contract/project/project.ts'
import type { Micros } from '#contract/spending/money.ts'

/** `$0.12 so far, at most $4.20`. */
export function jobCostWords(cost: Micros, most: Micros | undefined, going: boolean): string {
  if (!going) return money(cost)
  return `${money(cost)} so far${most === undefined ? '' : `, at most ${money(most)}`}`
}

/** `1a2b3c4 of main, 2 files changed since`. */
export function commitWords({ id, branch, changed }: NonNullable<JobView['commit']>): string {
  const since = changed && changed.files > 0 ? `, ${counted(changed.files, 'file')} changed since` : ''
  return `${id.slice(0, 7)}${branch === undefined ? '' : ` of ${branch}`}${since}`
}

/** The full commit id, and the files that had changed since. */
export function commitTitle({ id, changed }: NonNullable<JobView['commit']>): string {
  if (!changed || changed.files === 0) return id
  const unnamed = changed.files - changed.named.length
  const more = unnamed > 0 ? ` and ${unnamed} more` : ''
  return `${id}; changed since: ${changed.named.join(', ')}${more}`
}

/** `It's destroyed in 23 h.`, for the machine of a failed run. `now` in epoch seconds. */
export function keptWords({ at, destroys }: NonNullable<JobView['keptUntil']>, now: number): string {
  const left = duration(Math.max(0, at - now))
  return destroys ? `It's destroyed in ${left}, as you chose.` : `You're reminded in ${left}.`
}

/** The result of a run that has ended. */
export function jobEndWords({ step, brought, startedAt, endedAt, moved }: JobView): string {
  const took = startedAt === undefined || endedAt === undefined ? '' : `Took ${duration(endedAt - startedAt)}`
  const files = brought && `${counted(brought.files, 'file')} downloaded`
  const went = moved > 0 && `went on elsewhere ${moved === 1 ? 'once' : `${moved} times`}`
  const facts = [took, step === 'cancelled' ? 'nothing was downloaded' : files, went].filter(Boolean)
  const words = facts.join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The results stored under another name, since the local files had changed, too. */
export function besideWords({ beside }: NonNullable<JobView['brought']>): string | undefined {
  if (beside.length === 0) return undefined
  return `${beside.length === 1 ? 'A file' : `${count(beside.length)} files`} had changed here too; the downloaded ${beside.length === 1 ? 'one lies' : 'ones lie'} beside as ${named(beside, { most: 5 })}.`
}
