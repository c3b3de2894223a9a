import type { Problem } from '#contract/problem.ts'

/** A message of the page itself, shown for a moment. */
export interface Remark {
  id: number
  title: string
  body?: string
  problem?: Problem
}

/** Adds a remark and keeps the last four. The same refusal is shown once. */
export function withRemark(remarks: readonly Remark[], remark: Remark): Remark[] {
  const others = remarks.filter(
    ({ title, problem }) => !(problem && remark.problem && title === remark.title),
  )
  return [...others.slice(-3), remark]
}

/** Codes of the problems that mean that the service does not answer. */
const outage = new Set(['offline', 'connection_lost', 'timeout'])

/** The remarks that are still true once the account answers again. */
export function afterOutage(remarks: readonly Remark[]): Remark[] {
  return remarks.filter(({ problem }) => !problem || !outage.has(problem.code))
}
