import { buildAll } from './dist.ts'

/** `npm run build`; with `--if-stale` only after changes, and silently. */
const ifStale = process.argv.includes('--if-stale')
await buildAll({ quiet: ifStale, force: !ifStale })
