import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { BerthConnection } from '#cli/connection.ts'
import { reachBerth } from '#cli/reach.ts'
import type { State } from '#shared/state.ts'
import { startSimulatorProcess } from './berth/browser.ts'
import { rentRunning } from './e2e/account-steps.ts'
import { startKeyring } from './integration/platform/keyring.ts'
import type { TestSession } from './integration/platform/session-bus.ts'

/** How it stands still: its main thread for a lock, or all threads for files in calls that never return. */
type Freezing = 'lock' | 'files'

const freezes: Readonly<Record<Freezing, string>> = {
  lock: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
  // Opening a named pipe waits for its other end.
  files:
    "still = true; execFileSync('mkfifo', [pipe]); for (let read = 0; read < 4; read++) readFile(pipe, () => {})",
}

/** Runs in each thread of Berth before all else: once the file is there and the watcher looks, it stands still for ever. */
const preload = (file: string, how: Freezing) => `
const { isMainThread, workerData } = require('node:worker_threads')
const { execFileSync } = require('node:child_process')
const { existsSync, readFile, rmSync, writeFileSync } = require('node:fs')
const file = ${JSON.stringify(file)}
const [watched, pipe] = [file + '.watched', file + '.pipe']
let still = false
const every = setInterval
if (isMainThread) every(() => {
  if (still || !existsSync(file) || !existsSync(watched)) return
  rmSync(file)
  ${freezes[how]}
}, 100).unref()
else if (workerData && workerData.beats) globalThis.setInterval = (...look) => {
  writeFileSync(watched, '')
  return every(...look)
}`

const soon = { timeout: 180_000 }

/**
 * Freezes a Berth whose limit stops an instance 90 minutes after it was set, which are 90 seconds here. It must start
 * anew by itself, tell of it, and stop the instance.
 * @param start starts Berth with options for its Node
 */
export async function freezesAndActs(
  how: Freezing,
  session: TestSession,
  home: string,
  start: (nodeOptions: string) => void,
  ends: (end: () => Promise<void>) => void,
): Promise<void> {
  const sim = await startSimulatorProcess()
  ends(() => sim.stop())
  await startKeyring(session, 'password')
  const file = join(session.home, 'freeze')
  const script = join(session.home, 'freeze.cjs')
  await writeFile(script, preload(file, how))
  await chmod(session.home, 0o777)
  start(`--require ${script}`)

  const accountOf = async (berth: BerthConnection) => Object.values((await berth.state()).accounts)[0]

  // Each step is told: together they may take longer than a test file may be silent.
  const before = await answering(home)
  console.log('Berth answers')
  const instance = await rentRunning(sim)
  await before.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
  await expect.poll(async () => (await accountOf(before))?.instances[instance]?.state, soon).toBe('running')
  const limit = { when: { kind: 'duration', seconds: 5400 }, action: 'stop', asleep: false } as const
  const account = (await accountOf(before))?.id ?? 'a'
  await before.command('setLimit', { account, instance, ...limit, warning: 0, missed: 'act' })
  await writeFile(file, '')
  await expect.poll(() => existsSync(file), soon).toBe(false)
  before.close()
  console.log('Berth stands still')

  const after = await answering(home, ({ activity }) =>
    Object.values(activity).some(({ text }) => text === 'Berth froze for 1 min and restarted'),
  )
  console.log('Berth started anew')
  ends(() =>
    after.local('quit', {}).then(
      () => undefined,
      () => undefined,
    ),
  )
  await expect.poll(async () => (await accountOf(after))?.instances[instance]?.state, soon).toBe('stopped')
  expect(await readFile(join(home, 'logs', 'berth.log'), 'utf8')).toContain('Berth stood still for 60 s')
}

/** A connection to the Berth that answers there with such a state: one that stands still may answer, too. */
async function answering(
  home: string,
  isIt: (state: State) => boolean = () => true,
): Promise<BerthConnection> {
  let found: BerthConnection | undefined
  const isAnswered = async () => {
    const berth = await reachBerth(home, undefined)
    if (isIt(await berth.state())) found = berth
    else berth.close()
    return found !== undefined
  }
  await expect.poll(() => isAnswered().catch(() => false), soon).toBe(true)
  if (!found) throw new Error('no Berth answers')
  return found
}
