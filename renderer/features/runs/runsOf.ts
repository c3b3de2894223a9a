import type { RunView } from '#contract/automation/run.ts'
import type { AccountView } from '#contract/state.ts'

/** The runs of an instance, the waiting ones included, the newest first. */
export function runsOf({ runs, rentals }: AccountView, instance: number): RunView[] {
  const awaited = ({ rental, attemptSeries }: RunView) => rentals[attemptSeries ?? rental ?? '']?.instance
  return Object.values(runs)
    .filter(run => (run.instance ?? awaited(run)) === instance)
    .sort((a, b) => b.createdAt - a.createdAt)
}
