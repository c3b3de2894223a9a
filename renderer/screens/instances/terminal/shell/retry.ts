import type { Problem } from '../../../../../electron/contract/problem.ts'

/** What may well be over in a moment; anything else wants the user. */
const passing = new Set(['ssh_unreachable', 'ssh_timeout', 'ssh_closed', 'stream_failed', 'disconnected'])

/** Seconds before the first tries by itself, and before each further one. */
const waits = [1, 2, 4, 8, 15]
const furtherWait = 30

/** Seconds until Berth connects again by itself after so many tries in vain; undefined when it should not. */
export function retryIn(problem: Problem, tries: number): number | undefined {
  return passing.has(problem.code) ? (waits[tries] ?? furtherWait) : undefined
}

/** Whether connecting again is of no use until the user has done something. */
export function wantsUser(problem: Problem): boolean {
  return [
    'host_key_changed',
    'host_key_known_elsewhere',
    'key_refused',
    'key_locked',
    'key_unusable',
  ].includes(problem.code)
}
