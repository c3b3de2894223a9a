import { svelte } from '@sveltejs/vite-plugin-svelte'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { memoryFolder } from './build/memory-folder.ts'
import { silentFilesEnd } from './build/silent-files.ts'
import { TestRecord } from './build/test-record.ts'

/** Short files that wait for a minute or more, which vitest would put last. */
const waits = /freezing|killed/

/**
 * Begins with those. Unit tests, which only compute, come evenly among all others, which mostly wait for worlds, pages
 * and machines.
 */
class MixedTests extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isUnit = ({ moduleId }: TestSpecification) => moduleId.includes('/test/unit/')
    const place = new Map<TestSpecification, number>()
    for (const kind of [sorted.filter(isUnit), sorted.filter(file => !isUnit(file))])
      for (const [at, file] of kind.entries())
        place.set(file, waits.test(file.moduleId) ? -1 : at / kind.length)
    return sorted.toSorted((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0))
  }
}

const record = new TestRecord()
const folder = memoryFolder()
// For the workers, too, and all that they start.
if (folder !== undefined) process.env['TMPDIR'] ??= folder

export default defineConfig({
  plugins: [svelte()],
  test: {
    pool: silentFilesEnd(record.running),
    reporters: ['default', record],
    // MB: room for what lives short, which is else swept each time that half a megabyte of it has come.
    execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'],
    // What was compiled is found again by the next run, by its text: half of what importing costs.
    experimental: { fsModuleCache: true },
    // The files of a worker share what they import, and one browser: each test ends what it starts.
    isolate: false,
    sequence: { sequencer: MixedTests },
    include: process.env['BERTH_TEST_FIXTURES']
      ? ['test/integration/*.fixture.ts']
      : ['test/{unit,integration,journeys,e2e,electron}/**/*.test.ts'],
    // Without the program that is shipped there is nothing to start.
    exclude: process.env['BERTH_SHIPPED']
      ? configDefaults.exclude
      : [...configDefaults.exclude, 'test/electron/shipped/**'],
    // Far beyond what anything takes: they end what hangs, and time nothing. Shorter than a file may say nothing.
    testTimeout: 170_000,
    // A shared machine may stand still for seconds. `npm test` names what passed only when it was run again.
    retry: process.env['CI'] ? 1 : 0,
    hookTimeout: 170_000,
    maxConcurrency: 10,
    expect: { poll: { timeout: 150_000, interval: 100 } },
  },
})
