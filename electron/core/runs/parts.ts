import type { Failing } from './failing.ts'
import type { Inside } from './on-instance/inside.ts'
import type { RunWatchdog } from './on-instance/watchdog.ts'
import type { RunOutput } from './output/output.ts'
import type { RunAlerts } from './run-alerts.ts'
import type { StoredRuns } from './stored-runs.ts'

/** What following a run needs, apart from the account. */
export interface RunParts {
  runs: StoredRuns
  inside: Inside
  watchdog: RunWatchdog
  runAlerts: RunAlerts
  failing: Failing
  /** The variables that an instance was rented with, as far as they are known. */
  rentedWith(instance: number | undefined): Record<string, string>
  outputOf(id: string): Promise<RunOutput>
}
