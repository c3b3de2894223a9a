/** The numbers of tests by result. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
  /** Titles of those among the passed that had failed at first. */
  retried: string[]
}

/** The part of vitest's JSON report that is read. */
interface Report {
  testResults: { status: string; assertionResults: Result[] }[]
}

interface Result {
  status: string
  fullName: string
  /** Of all tries: a test that passed has some only if it was run again. */
  failureMessages?: string[]
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
    retried: tests
      .filter(test => test.status === 'passed' && test.failureMessages?.length)
      .map(test => `${test.fullName.trim()}: ${test.failureMessages?.[0]?.split('\n')[0]}`),
  }
}

export function addCounts(one: Counts, other: Counts): Counts {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    retried: [...one.retried, ...other.retried],
  }
}
