import './as-shipped.ts'
import { loadavg } from 'node:os'
import { runScript } from '#build/run.ts'
import { commandRows } from './command.ts'
import { electronRows } from './electron.ts'
import { firstLoadRows } from './first-load.ts'
import { historyRows } from './history.ts'
import { idleRows } from './idle.ts'
import { limitRows } from './limits.ts'
import { memoryRows } from './memory.ts'
import { offersPageRows } from './offers-page.ts'
import { pollRows } from './poll.ts'
import { requestRows } from './request.ts'
import type { Row, Size } from './row.ts'
import { runRows } from './runs.ts'
import { sftpRows } from './sftp.ts'
import { startRows } from './start.ts'
import { syncRows } from './sync.ts'
import { terminalRows } from './terminal.ts'

/**
 * `npm run bench`: measures every budget against a control in the same run. Words choose parts; `--smoke` runs each
 * once and small, as a test of the bench itself; `--polls N` sets the length of the memory run.
 */
const args = process.argv.slice(2)
const at = args.indexOf('--polls')
const polls = at < 0 ? undefined : Number(args[at + 1])
const size: Size = { smoke: args.includes('--smoke') }

const parts: [string, (size: Size) => Row[] | Promise<Row[] | string>][] = [
  ['request', requestRows],
  ['poll', pollRows],
  ['limits', limitRows],
  ['runs', runRows],
  ['offers', offersPageRows],
  ['terminal', terminalRows],
  ['electron', electronRows],
  ['idle', idleRows],
  ['start', startRows],
  ['command', commandRows],
  ['history', historyRows],
  ['memory', each => memoryRows(each, polls)],
  ['first load', firstLoadRows],
  ['sftp', sftpRows],
  ['sync', syncRows],
]

const only = args.filter((word, index) => !word.startsWith('--') && args[index - 1] !== '--polls')
if ((await runScript('build.ts', '--if-stale')) !== 0) throw new Error('Berth could not be built.')
const load = () => loadavg().map(each => each.toFixed(1))
console.log(`load average ${load().join(' ')}${size.smoke ? '; smoke: the figures say nothing' : ''}`)
const begun = performance.now()
let failed = 0
for (const [name, measure] of parts) {
  if (only.length > 0 && !only.includes(name)) continue
  try {
    const rows = await measure(size)
    if (typeof rows === 'string') {
      console.log(`LEFT OUT  ${name}: ${rows}`)
      continue
    }
    for (const { what, compared, measured, budget, kept } of rows) {
      const verdict = size.smoke ? 'ran   ' : kept ? 'kept  ' : 'BROKEN'
      console.log(`${verdict}  ${what}: ${measured} (${compared}; ${budget})`)
    }
  } catch (error) {
    // Goes on with the other parts.
    failed += 1
    console.error(`FAILED  ${name}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}
console.log(`${((performance.now() - begun) / 1000).toFixed(0)} s, load average ${load().join(' ')}`)
process.exit(failed > 0 ? 1 : 0)
