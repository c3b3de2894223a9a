import { runScript } from '../build/run.ts'

// Before what imports this starts the built Berth: builds it if it is stale. Those who do so at once take turns.
if ((await runScript('build.ts', '--if-stale')) !== 0) throw new Error('Berth could not be built.')
