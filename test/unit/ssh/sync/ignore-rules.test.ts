import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { boundedAttempts, verdictOf, withRules } from '#ssh/sync/ignore-rules.ts'

/** As a walk from the top down decides: what lies in an ignored folder is ignored. */
function isLeftOut(text: string, path: string, isFolder: boolean): boolean {
  const files = withRules([], text, { ignoreCase: false })
  const names = path.split('/')
  return names.some((_, at) => {
    const end = at < names.length - 1 || isFolder ? '/' : ''
    return verdictOf(files, names.slice(0, at + 1).join('/') + end) === true
  })
}

test.each([
  ['*.log', 'a/b.log', true],
  ['/a.log', 'b/a.log', false],
  ['build/', 'x/build/out', true],
  ['a/**/b', 'a/x/y/b', true],
  ['a/**', 'a/x', true],
  ['**/c', 'a/b/c', true],
  ['*.py[cod]', 'a.pyc', true],
  ['a?c', 'abc', true],
  ['[!a-c]x', 'bx', false],
  ['\\!a', '!a', true],
  ['# a', '# a', false],
  ['a\\ ', 'a ', true],
  ['a  ', 'a', true],
  ['*\n!keep', 'keep', false],
  ['/*\n!/src\n', 'src/a', false],
  ['a\r\nb\r\n', 'a', true],
  ['[[:digit:]]*', '1a', true],
  ['[', '[', false],
])('%j and %s: ignored is %s', (text, path, expected) => {
  expect(isLeftOut(text, path, false)).toBe(expected)
})

test('a pattern built for endless backtracking is given up', () => {
  const text = `${'*a'.repeat(100)}b\n${'**/a/'.repeat(50)}b\n`
  const path = Array.from({ length: 60 }, () => 'a').join('/')
  expect(() => boundedAttempts()(() => isLeftOut(text, path, false))).toThrow(/timed out/)
})

describe('compared with git', () => {
  let repository = ''
  beforeAll(() => {
    repository = mkdtempSync(join(tmpdir(), 'berth-ignore-'))
    execFileSync('git', ['init', '-q', repository])
  })
  afterAll(() => rmSync(repository, { recursive: true, force: true }))

  const piece = fc.constantFrom('a', 'b', 'c', '*', '?', '[ab]', '[!a]', '[^b]', '[a-c]', '\\a', '.', 'ab')
  const step = fc
    .array(piece, { minLength: 1, maxLength: 4 })
    .map(pieces => pieces.join(''))
    // Git reads `**` in a name inconsistently.
    .filter(each => !each.includes('**'))
  const pattern = fc
    .tuple(
      fc.constantFrom('', '', '!', '/'),
      fc.array(fc.oneof(step, fc.constant('**')), { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '', '/', '/**', ' ', '\r'),
    )
    .map(([start, steps, end]) => `${start}${steps.join('/')}${end}`)
  const name = fc.constantFrom('a', 'b', 'c', 'ab', 'a.b', '.a', 'abc', 'd')
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join('/'))

  test('the same paths are ignored', () => {
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 5 }),
        fc.uniqueArray(path, { minLength: 10, maxLength: 30 }),
        (patterns, paths) => {
          const text = `${patterns.join('\n')}\n`
          writeFileSync(join(repository, '.gitignore'), text)
          const { stdout } = spawnSync(
            'git',
            ['-C', repository, 'check-ignore', '--no-index', '-z', '--stdin'],
            {
              input: paths.join('\0'),
              encoding: 'utf8',
            },
          )
          const theirs = stdout.split('\0').filter(Boolean).sort()
          expect(paths.filter(each => isLeftOut(text, each, false)).sort()).toEqual(theirs)
        },
      ),
      { numRuns: 100 },
    )
  })
})
