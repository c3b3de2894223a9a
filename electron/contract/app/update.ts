import type { Problem } from '../problem.ts'

/** How an update of Berth stands. Nothing is fetched, and nothing put in place, before the user says so. */
export type UpdateView =
  /** `at`: epoch milliseconds on this machine of the last check; absent before the first. */
  | { status: 'none'; at?: number }
  | { status: 'checking' }
  | { status: 'available'; version: string }
  /** `percent`: whole ones, of what is to be fetched. */
  | { status: 'fetching'; version: string; percent: number }
  /** Fetched and checked; put in place once Berth is told to. */
  | { status: 'ready'; version: string }
  | { status: 'failed'; problem: Problem }
