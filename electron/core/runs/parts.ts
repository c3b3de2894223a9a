import type { Inside } from './inside.ts'
import type { RunOutput } from './output/output.ts'
import type { StoredRuns } from './stored-runs.ts'
import type { RunTelling } from './telling.ts'
import type { RunWatchdog } from './watchdog.ts'

/** What brings runs to their end, besides the account. */
export interface RunParts {
  runs: StoredRuns
  inside: Inside
  watchdog: RunWatchdog
  telling: RunTelling
  outputOf(id: string): Promise<RunOutput>
}
