import type { Problem } from '../problem.ts'

/** The state of an update of Berth. It is downloaded and installed only when the user says so. */
export type UpdateView =
  /** `at`: epoch milliseconds on this machine of the last check; absent before the first. */
  | { status: 'none'; at?: number }
  | { status: 'checking' }
  | { status: 'available'; version: string }
  /** `percent`: the downloaded part, a whole number. */
  | { status: 'fetching'; version: string; percent: number }
  /** Downloaded and checked; the user starts the installation. */
  | { status: 'ready'; version: string }
  | { status: 'failed'; problem: Problem }
