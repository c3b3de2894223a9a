import { named } from '#contract/format/list.ts'
import { money } from '#contract/format/money.ts'
import { bytes, count, counted, speed } from '#contract/format/size.ts'
import { duration } from '#contract/format/time.ts'
import type { SyncProgress } from '#contract/instance/sync.ts'
import type { JobView } from '#contract/project/project.ts'
import type { Micros } from '#contract/spending/money.ts'

/** "12 MB of 64 MB, 3 of 10 files, 14 MB/s, 4 s left". */
export function syncWords({ total, done, files, filesDone, speed: rate, secondsLeft }: SyncProgress): string {
  return [
    done < total ? `${bytes(done)} of ${bytes(total)}` : bytes(total),
    files > 1 && `${count(filesDone)} of ${count(files)} files`,
    rate !== undefined && speed(rate),
    secondsLeft !== undefined && `${duration(Math.ceil(secondsLeft))} left`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** Whole percent, rounded down. */
export function syncPercent({ total, done }: SyncProgress): number {
  return total === 0 ? 0 : Math.min(100, Math.floor((done / total) * 100))
}

/** `$0.12 so far, at most $4.20`. */
export function costWords(cost: Micros, most: Micros | undefined, going: boolean): string {
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
export function endWords({ step, brought, startedAt, endedAt, moved }: JobView): string {
  const took = startedAt === undefined || endedAt === undefined ? '' : `Took ${duration(endedAt - startedAt)}`
  const home = brought && `${counted(brought.files, 'file')} brought home`
  const went = moved > 0 && `went on elsewhere ${moved === 1 ? 'once' : `${moved} times`}`
  const facts = [took, step === 'cancelled' ? 'nothing was brought home' : home, went].filter(Boolean)
  const words = facts.join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The results stored under another name, since the local files had changed, too. */
export function besideWords({ beside }: NonNullable<JobView['brought']>): string | undefined {
  if (beside.length === 0) return undefined
  return `${beside.length === 1 ? 'A file' : `${count(beside.length)} files`} had changed here too; what came lies beside as ${named(beside, { most: 5 })}.`
}
