import { isStale } from './dist.ts'
import { at } from './places.ts'
import { runScript } from './run.ts'

/** `npm run berth`: the command, from an up-to-date build. */
if ((await isStale()) && (await runScript('build.ts', '--if-stale')) !== 0)
  throw new Error('Berth could not be built.')
await import(at('dist/main/cli.js'))
