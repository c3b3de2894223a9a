import type { Connection } from './state.ts'

/** Why an account is not seen although its key is good, in a few words for the header and the tray. */
export function outageWords({ problem, answered }: Connection & { status: 'offline' }): string {
  if (problem.code === 'rate_limited') return 'Service is asked too often'
  if (answered !== undefined && answered >= 500) return `Service fails (${answered})`
  if (answered !== undefined || unexpected.has(problem.code)) return 'Service answers something unexpected'
  if (problem.code === 'timeout') return 'Service does not answer'
  if (problem.code === 'untrusted_certificate') return 'Connection is not secure'
  return 'Service cannot be reached'
}

/** What is no answer of this service, though something answered. */
const unexpected: ReadonlySet<string> = new Set(['bad_answer', 'too_large', 'not_this_service', 'redirected'])

/** When the account was last seen (its time, epoch seconds), where it is not seen now: what is shown is from then. */
export function lastSeenAt(connection: Connection): number | undefined {
  return connection.status === 'online' ? undefined : connection.since
}
