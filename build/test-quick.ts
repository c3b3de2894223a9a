import { runTool } from './run.ts'

/** Within the budget of the inner loop: the rooms alone, and the core over the simulator with its states and kills. */
const quickTests = [
  'test/unit/',
  'test/integration/core/states.test.ts',
  'test/integration/core/killed.test.ts',
]

/** Half of the kills in `npm test`. */
const kills = '4'

/** `npm run test:quick`: checks the types while the quick tests run, since one core alone can check them. */
async function testQuick(): Promise<void> {
  const typesSince = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo']
  const codes = await Promise.all([
    runTool('tsc', ['-p', 'tsconfig.json', ...typesSince]),
    // These tests wait for little, and each worker imports what it needs.
    runTool('vitest', ['run', '--maxWorkers', '3', ...quickTests], { BERTH_KILLS: kills, ...process.env }),
  ])
  process.exitCode = Math.max(...codes)
}

await testQuick()
