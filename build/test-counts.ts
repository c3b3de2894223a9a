/** The numbers of tests by result. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** The part of vitest's JSON report that is read. */
interface Report {
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/**
 * Counts vitest's report; null where it left none. Failures outside tests (an unreadable file, an uncaught error) count
 * as one failed test, so that a failed run never looks passed.
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
