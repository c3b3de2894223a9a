import { answerSizeRows } from './answer-size.ts'
import { firstLoadRows } from './first-load.ts'
import { guardRows } from './guards.ts'
import { historyRows } from './history.ts'
import { hostileTextRows } from './hostile-text.ts'
import { memoryRows } from './memory.ts'
import { offersPageRows } from './offers-page.ts'
import { pollRows } from './poll.ts'
import { requestRows } from './request.ts'
import type { Row } from './row.ts'
import { sftpRows } from './sftp.ts'
import { startRows } from './start.ts'
import { terminalRows } from './terminal.ts'

/** `npm run bench`: every budget that can be measured, as ratios within one run. `--polls N` for a longer memory run. */
const at = process.argv.indexOf('--polls')
const polls = at < 0 ? 2000 : Number(process.argv[at + 1])

const parts: [string, () => Promise<Row[]>][] = [
  ['request', requestRows],
  ['answer size', answerSizeRows],
  ['poll', pollRows],
  ['guards', guardRows],
  ['history', historyRows],
  ['hostile text', async () => hostileTextRows()],
  ['offers', () => offersPageRows({ smoke: false })],
  ['start', startRows],
  ['terminal', terminalRows],
  ['memory', () => memoryRows(polls)],
  ['first load', firstLoadRows],
  ['sftp', sftpRows],
]

const only = process.argv
  .slice(2)
  .filter((word, index, all) => !word.startsWith('--') && all[index - 1] !== '--polls')
let failed = 0
for (const [name, measure] of parts) {
  if (only.length > 0 && !only.includes(name)) continue
  try {
    for (const { what, compared, measured, budget, kept } of await measure())
      console.log(`${kept ? 'kept  ' : 'BROKEN'}  ${what}: ${measured} (${compared}; ${budget})`)
  } catch (error) {
    // The other parts are measured all the same.
    failed += 1
    console.error(`FAILED  ${name}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}
process.exit(failed > 0 ? 1 : 0)
