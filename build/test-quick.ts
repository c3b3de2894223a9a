import { runTool } from './run.ts'

/** Within the budget of the inner loop: the rooms alone, and the core over the simulator with its states and kills. */
const quickTests = [
  'test/unit/',
  'test/integration/core/states.test.ts',
  'test/integration/core/killed.test.ts',
]

/**
 * Left to `npm test`: endless answers and texts of megabytes, thousands of keys, scripts in every shell, and processes
 * that are killed or hold a lock. They take a fifth of the time and change with few files.
 */
const slowTests = [
  'test/unit/hostile/**',
  'test/unit/service/{answer-size,hostile-answers}.test.ts',
  'test/unit/ssh/{cache-folders,cache-mounts,openssh-key,take-over}.test.ts',
  'test/unit/core/storage/survives.test.ts',
  'test/unit/start/lock.test.ts',
]

/** Half of the kills in `npm test`, and a quarter of its worlds. */
const rounds = { BERTH_KILLS: '4', BERTH_WORLDS: '5' }

/** `npm run test:quick`: checks the types while the quick tests run, since one core alone can check them. */
async function testQuick(): Promise<void> {
  const typesSince = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo']
  const excluded = slowTests.flatMap(files => ['--exclude', files])
  const codes = await Promise.all([
    runTool('tsc', ['-p', 'tsconfig.json', ...typesSince]),
    // These tests wait for little, and each worker imports what it needs.
    runTool('vitest', ['run', '--maxWorkers', '2', ...quickTests, ...excluded], {
      ...rounds,
      ...process.env,
    }),
  ])
  process.exitCode = Math.max(...codes)
}

await testQuick()
