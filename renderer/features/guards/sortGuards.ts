import { type GuardView, hasEnded } from '#contract/automation/guard.ts'

/** Those that act next first, then those that wait, those that are off, and those that have ended, the newest first. */
export function sortGuards(guards: readonly GuardView[]): GuardView[] {
  return guards.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.dueAt ?? Number.MAX_VALUE) - (b.dueAt ?? Number.MAX_VALUE) ||
      (b.history.at(-1)?.at ?? 0) - (a.history.at(-1)?.at ?? 0),
  )
}

function rank(guard: GuardView): number {
  if (guard.step === 'off') return 1
  return hasEnded(guard) ? 2 : 0
}
