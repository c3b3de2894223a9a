import { existsSync, readFileSync } from 'node:fs'
import { namesIn } from './interface-table.ts'

/** What is wrong with a piece of code that is named as `path#name`; undefined for nothing. */
export function codeMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`#]+)#([^`]+)`$/.exec(entry) ?? []
  if (!existsSync(path)) return 'is no file'
  const source = readFileSync(path, 'utf8')
  const there = path.endsWith('.ts') ? namesIn(source).declared.has(name) : source.includes(name)
  return there ? undefined : 'is not in that file'
}

/** What is wrong with a test that is named as `path › title`, below test/; undefined for nothing. */
export function testMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(entry) ?? []
  if (!existsSync(`test/${path}`)) return 'is no file'
  return namesIn(readFileSync(`test/${path}`, 'utf8')).tests.has(name) ? undefined : 'is no test in that file'
}

/** Each entry with a mistake, and that. */
export const wrong = (entries: readonly string[], mistake: (entry: string) => string | undefined) =>
  entries.flatMap(entry => (mistake(entry) === undefined ? [] : [`${entry} ${mistake(entry)}`]))
