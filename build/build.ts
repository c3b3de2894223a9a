import { buildAll } from './dist.ts'

/** `npm run build`; with `--if-stale` only after changes, and in one line that names each part as it begins. */
const ifStale = process.argv.includes('--if-stale')
const begun = performance.now()
let said = ''
function say(text: string): void {
  process.stderr.write(said === '' ? `Building Berth, once for each version:${text}` : text)
  said += text
}

await buildAll({
  quiet: ifStale,
  force: !ifStale,
  ...(ifStale && { onPart: part => say(` ${part}…`) }),
})
if (said !== '') say(` done in ${Math.ceil((performance.now() - begun) / 1000)} s\n`)
