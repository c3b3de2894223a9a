import { BerthError } from '#contract/problem.ts'
import type { Candidate } from './addresses.ts'
import type { Connection, ConnectionAttempt } from './connection.ts'
import type { Limits } from './dial.ts'
import { timedOut } from './ssh-problems.ts'

/** A connection, and the address at which it was opened. */
export interface Entrance {
  connection: Connection
  candidate: Candidate
}

/**
 * Connects at the first address that accepts the key. One deadline covers all: the time left is shared evenly among the
 * addresses not yet tried. If none accepts the key, throws the error that explains most.
 */
export async function getIn(
  ways: readonly Candidate[],
  attempt: Omit<ConnectionAttempt, 'address'>,
  limits: Limits,
): Promise<Entrance> {
  const start = limits.clock.monotonic()
  const { connectTo } = await import('./connection.ts')
  const faults: { candidate: Candidate; error: unknown }[] = []
  for (const [index, candidate] of ways.entries()) {
    const left = limits.within - (limits.clock.monotonic() - start)
    if (left <= 0) break
    const within = left / (ways.length - index)
    try {
      const connection = await connectTo({ ...attempt, address: candidate.address }, { ...limits, within })
      return { connection, candidate }
    } catch (error) {
      if (limits.signal.aborted) throw error
      faults.push({ candidate, error })
    }
  }
  throw clearestFault(faults) ?? timedOut(ways[0]?.address)
}

/** Error codes, the most telling first. */
const weights = [
  'host_key_changed',
  'host_key_known_elsewhere',
  'key_refused',
  'ssh_timeout',
  'ssh_unreachable',
]

/**
 * A guessed port may belong to another machine, so its errors do not count, except `key_refused`: if the listed
 * addresses did not answer, attaching the key is worth a try and does no harm.
 */
function clearestFault(faults: readonly { candidate: Candidate; error: unknown }[]): unknown {
  const counted = faults.filter(
    ({ candidate, error }) =>
      candidate.way !== 'guess' || (error instanceof BerthError && error.problem.code === 'key_refused'),
  )
  return counted.map(({ error }) => error).sort((one, other) => weight(one) - weight(other))[0]
}

function weight(error: unknown): number {
  const place = error instanceof BerthError ? weights.indexOf(error.problem.code) : -1
  return place // -1, for an unknown error, sorts first
}
