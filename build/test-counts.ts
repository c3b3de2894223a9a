/** How the tests went. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** The part of vitest's JSON report that is counted. */
interface Report {
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/**
 * Counts a report of vitest's, undefined or null when it left none. What fails outside a test (a file that cannot be
 * read, an error nobody caught) counts as one failed, so that a run that failed is never told as one that passed.
 */
export function countReport(report: Report | null, exitCode: number): Counts {
  const files = report?.testResults ?? []
  const tests = files.flatMap(file => file.assertionResults)
  const count = (...statuses: string[]) => tests.filter(test => statuses.includes(test.status)).length
  const broken = files.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed'),
  ).length
  const failed = count('failed') + broken
  return {
    passed: count('passed'),
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: count('skipped', 'pending', 'todo', 'disabled'),
  }
}
