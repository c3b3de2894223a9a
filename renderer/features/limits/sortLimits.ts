import { hasEnded, type LimitView } from '#contract/automation/limit.ts'

/** Those that act next first, then those that wait, those that are off, and those that have ended, the newest first. */
export function sortLimits(limits: readonly LimitView[]): LimitView[] {
  return limits.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.dueAt ?? Number.MAX_VALUE) - (b.dueAt ?? Number.MAX_VALUE) ||
      (b.history.at(-1)?.at ?? 0) - (a.history.at(-1)?.at ?? 0),
  )
}

function rank(limit: LimitView): number {
  if (limit.step === 'off') return 1
  return hasEnded(limit) ? 2 : 0
}
