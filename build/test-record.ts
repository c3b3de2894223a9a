import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** One test as it went. */
export interface TestEntry {
  title: string
  result: 'passed' | 'failed' | 'skipped' | 'pending'
  /** The first line of what failed, also of a test that passed when it was run again. */
  error?: string
  /** Why it skips itself. */
  note?: string
}

/** A line of the record: a file that begins, or that has ended with these results. */
export type FileEntry =
  | { file: string; begins: true }
  /** `isBroken`: something failed outside its tests. */
  | { file: string; tests: TestEntry[]; isBroken: boolean }

/**
 * Keeps a record of the test files, line by line as they begin and end, so that a run which is killed can be counted.
 * Written to the path in `BERTH_TEST_RECORD`; without one nothing is written.
 */
export class TestRecord implements Reporter {
  readonly #path = process.env['BERTH_TEST_RECORD']
  readonly #running = new Set<string>()

  /** The files that have begun and not ended. */
  get running(): ReadonlySet<string> {
    return this.#running
  }

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#running.add(moduleId)
    this.#write({ file: moduleId, begins: true })
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.moduleId)
    this.#write({
      file: module.moduleId,
      tests: Array.from(module.children.allTests(), entryOf),
      isBroken: module.errors().length > 0 || Array.from(module.children.allSuites()).some(hasErrors),
    })
  }

  #write(entry: FileEntry): void {
    if (this.#path) appendFileSync(this.#path, `${JSON.stringify(entry)}\n`)
  }
}

const hasErrors = (suite: { errors(): unknown[] }) => suite.errors().length > 0

function entryOf(test: TestCase): TestEntry {
  const result = test.result()
  const [error] = result.errors?.[0]?.message.split('\n') ?? []
  const note = result.state === 'skipped' ? result.note : undefined
  return {
    title: test.fullName,
    result: result.state,
    ...(error !== undefined && { error }),
    ...(note !== undefined && { note }),
  }
}

/** Reads a record; empty where none was written. The last line may have been cut off. */
export function readRecord(path: string): FileEntry[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map(line => JSON.parse(line) as FileEntry)
}
