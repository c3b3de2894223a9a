import type { Connection } from './state.ts'

/** Why polling fails although the key is good, in a few words for the header and the tray. */
export function outageWords({ problem, answered }: Connection & { status: 'offline' }): string {
  if (problem.code === 'rate_limited') return 'Service is asked too often'
  if (answered !== undefined && answered >= 500) return `Service fails (${answered})`
  if (answered !== undefined || unexpected.has(problem.code)) return 'Service answers something unexpected'
  if (problem.code === 'timeout') return 'Service does not answer'
  if (problem.code === 'untrusted_certificate') return 'Connection is not secure'
  return 'Service cannot be reached'
}

/** Something answered, but not as this service would. */
const unexpected: ReadonlySet<string> = new Set(['bad_answer', 'too_large', 'not_this_service', 'redirected'])

/** The time of the data on screen (account time, epoch seconds); undefined while the account is online. */
export function lastSeenAt(connection: Connection): number | undefined {
  return connection.status === 'online' ? undefined : connection.since
}
