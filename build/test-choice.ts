import { readdir, readFile } from 'node:fs/promises'
import { at } from './places.ts'

/** The arguments of `npm test`: the files to run, undefined for all, and vitest's own options (`-t …`). */
export interface Choice {
  files: string[] | undefined
  options: string[]
}

/** The tests of the page that `npm test` leaves to `npm run test:all`; it runs the twelve journeys alone. */
export const pageTests = ['test/e2e/']

/**
 * Long tests with real machines that `npm test` leaves to `npm run test:all`: what befalls runs in a night (kills, sleeps,
 * outbids, several machines), and what stays on their disks.
 */
export const nightTests = [
  'test/integration/core/nights/',
  'test/integration/ssh/settled',
  'test/integration/ssh/stored-runs',
]

/**
 * Tests that take minutes, and those that make their own networks: this machine's network changes under every page that is
 * open meanwhile.
 */
export const ranAlone = ['test/integration/nodes/', 'test/integration/hours/']

/** Test files that run at once, by the beginnings of their paths; all where `only` is empty. */
export interface TestRound {
  only: readonly string[]
  without: readonly string[]
}

/** What `npm test` runs. */
export const everyChange: TestRound = { only: [], without: [...pageTests, ...nightTests, ...ranAlone] }

/**
 * The words before the first option choose all test files with one of them in the path or a test's title, also in the
 * singular: `limits` finds "a limit that is due warns first". Words with a slash or a dot match paths only.
 */
export async function chooseTests(args: readonly string[], folder = at('test')): Promise<Choice> {
  const firstOption = args.findIndex(arg => arg.startsWith('-'))
  const words = firstOption < 0 ? args : args.slice(0, firstOption)
  const options = firstOption < 0 ? [] : args.slice(firstOption)
  if (words.length === 0) return { files: undefined, options }
  const files: string[] = []
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.test.ts')) continue
    const path = `test/${name.replaceAll('\\', '/')}`
    const text = await readFile(`${folder}/${name}`, 'utf8')
    if (words.some(word => concerns(word, path, text))) files.push(path)
  }
  return { files: files.sort(), options }
}

const title = /\b(?:test|describe)(?:\.\w+(?:\([^\n]*\))?)?\(\s*(['"`])(.*?)\1/g

function concerns(word: string, path: string, text: string): boolean {
  if (/[/.]/.test(word)) return path.includes(word.replace(/^\.\//, ''))
  const stem = word.toLowerCase().replace(/s$/, '')
  if (path.toLowerCase().includes(stem)) return true
  return [...text.matchAll(title)].some(([, , said = '']) => said.toLowerCase().includes(stem))
}
