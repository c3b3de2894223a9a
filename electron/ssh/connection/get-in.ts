import { BerthError } from '../../contract/problem.ts'
import type { Candidate } from './addresses.ts'
import type { Attempt, Connection } from './connection.ts'
import type { Limits } from './dial.ts'
import { timedOut } from './ssh-problems.ts'

/** A connection, and by which of the ways it came about. */
export interface Entrance {
  connection: Connection
  candidate: Candidate
}

/**
 * The first of the ways on which the key is accepted, all within one deadline: whatever is left is shared evenly
 * among the ways not yet tried. When none leads in, throws what says most about why.
 */
export async function getIn(
  ways: readonly Candidate[],
  attempt: Omit<Attempt, 'address'>,
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

/** What says most comes first. */
const weights = [
  'host_key_changed',
  'host_key_known_elsewhere',
  'key_refused',
  'ssh_timeout',
  'ssh_unreachable',
]

/**
 * A guessed port may be another machine's, so its host key is nobody's concern and its silence says nothing. That it
 * refused the key counts where the told addresses did not even answer: attaching the key does no harm.
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
  return place // anything unforeseen, at -1, is told before all else
}
