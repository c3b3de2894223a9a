import type { Problem } from '#contract/problem.ts'

/** Codes of problems that often pass by themselves; every other one needs the user. */
const passing = new Set(['ssh_unreachable', 'ssh_timeout', 'ssh_closed', 'stream_failed', 'disconnected'])

/** Seconds before the first automatic retries, and before each later one. */
const waits = [1, 2, 4, 8, 15]
const furtherWait = 30

/** Seconds until the next automatic retry after so many failed ones; undefined where there should be none. */
export function retryIn(problem: Problem, tries: number): number | undefined {
  return passing.has(problem.code) ? (waits[tries] ?? furtherWait) : undefined
}

/** Whether the user has to act before a retry can work. */
export function wantsUser(problem: Problem): boolean {
  return [
    'host_key_changed',
    'host_key_known_elsewhere',
    'key_refused',
    'key_locked',
    'key_unusable',
  ].includes(problem.code)
}
