import type { WatchdogView } from '../../../contract/automation/watchdog.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { StoredWatchdog } from './model.ts'

export function watchdogView(kept: StoredWatchdog, problem: Problem | undefined): WatchdogView {
  const { renewedAt: _renewedAt, endsHere: _endsHere, told: _told, ...view } = kept
  return { ...view, problem }
}
