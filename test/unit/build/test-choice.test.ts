import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { chooseTests } from '#build/test-choice.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-choice-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const tests = {
  'unit/guards/moment.test.ts': "test('it is due', () => {})",
  'unit/tray.test.ts': "import '../guards.ts'\ntest('the menu names the next guard', () => {})",
  'unit/each.test.ts': "test.each([1])(\n  'guards of kind %s warn', () => {})",
  'unit/imports.test.ts': "import '../guards.ts'\ntest('something else', () => guard())",
  'unit/guards/world.ts': '',
}
for (const [path, text] of Object.entries(tests)) {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

test('without a word every test runs', async () => {
  expect(await chooseTests([], folder)).toEqual({ files: undefined, options: [] })
  expect(await chooseTests(['-t', 'guards'], folder)).toEqual({ files: undefined, options: ['-t', 'guards'] })
})

test('a word finds tests by path and by title, also in the singular', async () => {
  expect((await chooseTests(['guards'], folder)).files).toEqual([
    'test/unit/each.test.ts',
    'test/unit/guards/moment.test.ts',
    'test/unit/tray.test.ts',
  ])
})

test('a path matches only paths, and options are passed to vitest', async () => {
  expect(await chooseTests(['./test/unit/guards/', '-t', 'is due'], folder)).toEqual({
    files: ['test/unit/guards/moment.test.ts'],
    options: ['-t', 'is due'],
  })
})

test('a word without matches chooses nothing', async () => {
  expect((await chooseTests(['zebra'], folder)).files).toEqual([])
})
