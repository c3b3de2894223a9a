import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { chooseTests } from '#build/test-choice.ts'
import { addCounts, countRecord, none, saidCounts } from '#build/test-counts.ts'
import type { FileEntry, TestEntry } from '#build/test-record.ts'

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

const passed: TestEntry = { title: 'a limit > warns', result: 'passed' }
const failed: TestEntry = { title: 'a limit > acts', result: 'failed', error: 'Error: late' }
const skipped: TestEntry = { title: 'a run (skipped: no sshd) > ends', result: 'skipped' }
const ended = (...tests: TestEntry[]): FileEntry => ({ file: 'a.test.ts', tests, isBroken: false })

test('tests are counted by result, and a file that fails outside them counts as a failed test', () => {
  const record: FileEntry[] = [
    { file: 'a.test.ts', begins: true },
    ended(passed, failed, skipped),
    { file: 'b.test.ts', tests: [passed], isBroken: true },
  ]
  expect(countRecord(record, 1)).toMatchObject({ passed: 2, failed: 2, lost: [] })
  expect(countRecord([ended(passed)], 0)).toMatchObject({ passed: 1, failed: 0 })
})

test('a failed run never looks passed', () => {
  expect(countRecord([], 1)).toMatchObject({ passed: 0, failed: 1 })
  expect(countRecord([ended(passed)], 1)).toMatchObject({ passed: 1, failed: 1 })
})

test('a file that began and did not end is named, and counts as a failed test', () => {
  const record: FileEntry[] = [{ file: 'b.test.ts', begins: true }, ended(passed)]
  const counts = countRecord(record, 1)
  expect(counts).toMatchObject({ passed: 1, failed: 1, lost: ['b.test.ts'] })
  expect(saidCounts(counts)).toContain('Failed, since it did not end by itself: b.test.ts\n')
})

test('what is skipped is counted by its reason, the most frequent first', () => {
  const other: TestEntry = { title: 'a notice > is shown (skipped: no dunst)', result: 'skipped' }
  const counts = countRecord([ended(skipped, other, skipped)], 0)
  const all = addCounts(counts, { ...none, skipped: new Map([['no dunst', 4]]) })
  expect(saidCounts(all)).toBe('5 skipped: no dunst\n2 skipped: no sshd\n\n0 passed, 0 failed, 7 skipped\n')
})

test('a test that passed only when it was run again is named, with its first error', () => {
  const counts = countRecord([ended({ ...failed, result: 'passed' }, passed)], 0)
  expect(counts).toMatchObject({ passed: 2, failed: 0, retried: ['a limit > acts: Error: late'] })
  expect(addCounts(counts, counts)).toMatchObject({ passed: 4, retried: { length: 2 } })
})
