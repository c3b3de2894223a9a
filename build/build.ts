import { buildAll } from './dist.ts'

/** `npm run build`; with `--if-stale`, only what must be and without a word. */
const ifStale = process.argv.includes('--if-stale')
await buildAll({ quiet: ifStale, force: !ifStale })
