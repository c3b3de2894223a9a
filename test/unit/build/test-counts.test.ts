import { expect, test } from 'vitest'
import { addCounts, countReport } from '#build/test-counts.ts'

const passed = { status: 'passed', fullName: 'a limit warns', failureMessages: [] }
const failed = { status: 'failed', fullName: 'a limit acts', failureMessages: ['Error: late\n  at …'] }

test('tests are counted by result, and a file that cannot be read counts as a failed test', () => {
  const report = {
    testResults: [
      { status: 'failed', assertionResults: [passed, failed, { status: 'pending', fullName: 'later' }] },
      { status: 'failed', assertionResults: [] },
    ],
  }
  expect(countReport(report, 1)).toEqual({ passed: 1, failed: 2, skipped: 1, retried: [] })
  expect(countReport(null, 1)).toMatchObject({ passed: 0, failed: 1 })
})

test('a test that passed only when it was run again is named, with its first error', () => {
  const again = { ...failed, status: 'passed' }
  const counts = countReport({ testResults: [{ status: 'passed', assertionResults: [again, passed] }] }, 0)
  expect(counts).toEqual({ passed: 2, failed: 0, skipped: 0, retried: ['a limit acts: Error: late'] })
  expect(addCounts(counts, counts)).toMatchObject({ passed: 4, retried: { length: 2 } })
})
