import type { ConnectionState } from './state.ts'

/** Why polling fails although the key is good, in a few words for the header and the tray, or of a named service. */
export function outageWords(
  { problem, answered }: ConnectionState & { status: 'offline' },
  service = 'Service',
): string {
  if (problem.code === 'rate_limited') return `${service} is getting too many requests`
  if (problem.code === 'other_user') return `${service} answers for another account`
  if (answered !== undefined && answered >= 500) return `${service} is failing (${answered})`
  if (answered !== undefined || unexpected.has(problem.code)) return `${service} sends invalid answers`
  if (problem.code === 'timeout') return `${service} isn’t answering`
  if (problem.code === 'untrusted_certificate')
    return service === 'Service' ? 'Connection is not secure' : `The connection to ${service} is not secure`
  return `${service} can’t be reached`
}

/** Something answered, but not as this service would. */
const unexpected: ReadonlySet<string> = new Set(['bad_answer', 'too_large', 'not_this_service', 'redirected'])

/** Whether waiting is the only option: the service is silent, failing or overloaded. */
export function isPassing({ problem, answered }: ConnectionState & { status: 'offline' }): boolean {
  const mends = answered !== undefined && answered < 500 && problem.code !== 'rate_limited'
  return !mends && !unexpected.has(problem.code) && problem.code !== 'untrusted_certificate'
}

/** The time of the data on screen (account time, epoch seconds); undefined while the account is online. */
export function lastSeenAt(connection: ConnectionState): number | undefined {
  return connection.status === 'online' ? undefined : connection.since
}
