import { soakFiles } from './files.ts'
import {
  soakAgents,
  soakFolder,
  soakHistories,
  soakHours,
  soakKills,
  soakProjects,
  soakRequests,
  soakSessions,
  soakWorlds,
} from './longer-tests.ts'

/** `npm run soak`: the long campaigns in full; `npm test` has their short forms. */
const campaigns: [string, () => Promise<string>][] = [
  ['agents', soakAgents],
  ['files', soakFiles],
  ['folder', soakFolder],
  ['histories', soakHistories],
  ['hours', soakHours],
  ['kills', soakKills],
  ['projects', soakProjects],
  ['requests', soakRequests],
  ['sessions', soakSessions],
  ['worlds', soakWorlds],
]

const only = process.argv.slice(2)
for (const [name, campaign] of campaigns) {
  if (only.length > 0 && !only.includes(name)) continue
  try {
    console.log(`passed  ${name}: ${await campaign()}`)
  } catch (error) {
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
process.exit()
