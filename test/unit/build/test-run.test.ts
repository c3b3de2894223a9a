import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { chooseTests } from '#build/test-choice.ts'
import { addCounts, countReport } from '#build/test-counts.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-choice-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const tests = {
  'unit/limits/moment.test.ts': "test('it is due', () => {})",
  'unit/tray.test.ts': "import '../limits.ts'\ntest('the menu names the next limit', () => {})",
  'unit/each.test.ts': "test.each([1])(\n  'limits of kind %s warn', () => {})",
  'unit/imports.test.ts': "import '../limits.ts'\ntest('something else', () => limit())",
  'unit/limits/world.ts': '',
}
for (const [path, text] of Object.entries(tests)) {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

test('without a word every test runs', async () => {
  expect(await chooseTests([], folder)).toEqual({ files: undefined, options: [] })
  expect(await chooseTests(['-t', 'limits'], folder)).toEqual({ files: undefined, options: ['-t', 'limits'] })
})

test('a word finds tests by path and by title, also in the singular', async () => {
  expect((await chooseTests(['limits'], folder)).files).toEqual([
    'test/unit/each.test.ts',
    'test/unit/limits/moment.test.ts',
    'test/unit/tray.test.ts',
  ])
})

test('a path matches only paths, and options are passed to vitest', async () => {
  expect(await chooseTests(['./test/unit/limits/', '-t', 'is due'], folder)).toEqual({
    files: ['test/unit/limits/moment.test.ts'],
    options: ['-t', 'is due'],
  })
})

test('a word without matches chooses nothing', async () => {
  expect((await chooseTests(['zebra'], folder)).files).toEqual([])
})

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
