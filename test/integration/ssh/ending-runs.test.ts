import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { endRun, readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'

/** Starts a child that writes `told` on SIGTERM; `after` would follow its end. */
const command = `sh -c 'trap "> told; exit" TERM; > up; while :; do sleep 0.1; done'; > after`

describe.skipIf(noSshd)(`asking a run to end${noSshd}`, () => {
  test.each([
    ['with setsid', []],
    ['on an image without setsid', ['setsid']],
  ])('ends the processes it has started: %s', async (_, missing) => {
    const { sshd, connect } = await openPlace([`SetEnv PATH=${programsBut(missing)}`])
    const { connection } = await connect()
    await startRun(connection, systemClock, 'one', { command, order: undefined, environment: {} })
    await expect.poll(() => existsSync(join(sshd.home, 'up'))).toBe(true)
    await endRun(connection, systemClock, 'one')
    const status = () => readRunStatus(connection, systemClock, 'one', 0)
    await expect.poll(status).toMatchObject({ state: 'ended' })
    await expect.poll(() => existsSync(join(sshd.home, 'told'))).toBe(true)
    expect(existsSync(join(sshd.home, 'after'))).toBe(false)
  })
})

/** A folder with links to this machine's programs, without the missing ones. */
function programsBut(missing: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const from of ['/usr/bin', '/usr/sbin']) {
    for (const name of readdirSync(from)) {
      if (!missing.includes(name) && !existsSync(join(folder, name))) {
        symlinkSync(join(from, name), join(folder, name))
      }
    }
  }
  return folder
}
