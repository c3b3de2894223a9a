import { performance } from 'node:perf_hooks'
import { runTool } from './run.ts'

/** `npm run check`: runs all tools on the whole project, so that one failure does not hide another. */
const checks: [name: string, tool: string, args: string[]][] = [
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  [
    'types of the page',
    'svelte-check',
    ['--tsconfig', './tsconfig.json', '--output', 'human', '--fail-on-warnings'],
  ],
  ['format and lint', 'biome', ['check', '--error-on-warnings']],
  [
    'who knows whom',
    'depcruise',
    ['electron', 'renderer', 'simulator', 'build', 'test', '--output-type', 'err'],
  ],
  ['slow expressions and forward references', 'eslint', ['electron', 'renderer', 'simulator']],
  ['commit subjects', 'tsx', ['build/check-commits.ts']],
  ['unused code', 'knip', ['--no-progress', '--treat-config-hints-as-errors']],
]

const failed: string[] = []
for (const [name, tool, args] of checks) {
  const begun = performance.now()
  const code = await runTool(tool, args)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  process.stdout.write(`${code === 0 ? 'passed' : 'FAILED'}: ${name} (${tool}, ${seconds} s)\n`)
  if (code !== 0) failed.push(name)
}
if (failed.length > 0) {
  process.stdout.write(`Failed: ${failed.join(', ')}\n`)
  process.exitCode = 1
}
