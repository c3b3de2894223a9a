import type { Inside } from './on-instance/inside.ts'
import type { RunWatchdog } from './on-instance/watchdog.ts'
import type { RunOutput } from './output/output.ts'
import type { StoredRuns } from './stored-runs.ts'
import type { RunTelling } from './telling.ts'

/** What brings runs to their end, besides the account. */
export interface RunParts {
  runs: StoredRuns
  inside: Inside
  watchdog: RunWatchdog
  telling: RunTelling
  outputOf(id: string): Promise<RunOutput>
}
