import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBerth } from '#core/berth.ts'
import { openFiles } from '#platform/files.ts'
import { keepHeapSmall } from '#start/open-home.ts'
import { openPlatform } from '#start/system.ts'
import { silentLog, testKeychain, testNotifier } from '#test/berth/machine.ts'

/** Runs Berth's main process on the service of the given address: polls `polls` times and prints its memory. */
keepHeapSmall()
const [baseUrl = '', polls = '0'] = process.argv.slice(2)
const home = await mkdtemp(join(tmpdir(), 'berth-bench-'))
const platform = {
  ...(await openPlatform(openFiles(home))),
  notifier: testNotifier(),
  keychain: testKeychain(),
}
const berth = await startBerth({
  log: silentLog,
  platform,
  app: { version: 'bench', shell: 'browser' },
})
const page = berth.connectPage(() => true)
page.receive({ kind: 'sync' })
await berth.dispatch('connectAccount', { baseUrl, key: 'bench' })

for (let poll = 1; poll <= Number(polls); poll += 1) {
  await berth.dispatch('refresh', {})
  if (poll % (Number(polls) / 10) !== 0) continue
  globalThis.gc?.()
  // The memory of buffers is freed only by the second collection.
  await new Promise(setImmediate)
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ poll, rss, live: heapUsed + external })}\n`)
}
await berth.close()
await rm(home, { recursive: true, force: true })
process.exit(0)
