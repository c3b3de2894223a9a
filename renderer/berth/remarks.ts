import type { Problem } from '../../electron/contract/problem.ts'

/** Something the page itself has to say for a moment. */
export interface Remark {
  id: number
  title: string
  body?: string
  problem?: Problem
}

/** Remarks with a further one, the last four. The same refusal is said once. */
export function withRemark(remarks: readonly Remark[], remark: Remark): Remark[] {
  const others = remarks.filter(
    ({ title, problem }) => !(problem && remark.problem && title === remark.title),
  )
  return [...others.slice(-3), remark]
}

/** What the service's silence is told as. */
const outage = new Set(['offline', 'connection_lost', 'timeout'])

/** Those that are still true once the account answers again. */
export function afterOutage(remarks: readonly Remark[]): Remark[] {
  return remarks.filter(({ problem }) => !problem || !outage.has(problem.code))
}
