import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isInstalled } from '#build/system-parts.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { outputOf } from '#ssh/exec.ts'
import { endRun, readRunStatus, startRun, stillAtWork } from '#ssh/runs/runs.ts'
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

const detached: Readonly<Record<string, string>> = {
  nohup: 'nohup sh late > /dev/null 2>&1 &',
  setsid: 'setsid sh late > /dev/null 2>&1 &',
  'a double fork': '(setsid sh -c "sh late > /dev/null 2>&1 &" &)',
  ...(isInstalled('tmux') && { tmux: 'tmux -S "$HOME/tmux" -f /dev/null new -d "sh late"' }),
}

describe.skipIf(noSshd)(`what a command leaves running${noSshd}`, () => {
  test.each(Object.entries(detached))('is found until it has ended: %s', async (_, start) => {
    const { sshd, connect } = await openPlace()
    const { connection } = await connect()
    writeFileSync(join(sshd.home, 'late'), 'exec 3<> up; while [ ! -e over ]; do sleep 0.1; done\n')
    const command = `${start}\nwhile [ ! -e up ]; do sleep 0.1; done`
    await startRun(connection, systemClock, 'one', { command, order: undefined, environment: {} })
    await expect
      .poll(() => readRunStatus(connection, systemClock, 'one', 0), polling)
      .toMatchObject({ state: 'ended' })
    const bounds = { clock: systemClock, within: 20_000, most: 4096 }
    const left = async () => (await outputOf(connection, stillAtWork('one', true), bounds)).text
    expect(await left()).toContain('sh\n')
    writeFileSync(join(sshd.home, 'over'), '')
    await expect.poll(left, polling).toBe('')
  })

  test.each(['0022', '0002'])(
    'has the login’s own umask %s, and Berth’s files are its user’s',
    async umask => {
      const { sshd, connect } = await openPlace()
      const { connection } = await connect()
      writeFileSync(join(sshd.home, '.bashrc'), `umask ${umask}\n`)
      const attempts = { times: 1, pause: 1, codes: [] }
      const command = '> made; mkdir folder'
      await startRun(connection, systemClock, 'one', { command, attempts, order: undefined, environment: {} })
      await expect
        .poll(() => readRunStatus(connection, systemClock, 'one', 0), polling)
        .toMatchObject({ state: 'ended', code: 0 })
      const mode = (path: string) => statSync(join(sshd.home, path)).mode & 0o777
      const bounds = { clock: systemClock, within: 20_000, most: 4096 }
      const own = Number.parseInt((await outputOf(connection, 'umask', bounds)).text, 8)
      expect([mode('made'), mode('folder')]).toEqual([0o666 & ~own, 0o777 & ~own])
      for (const name of readdirSync(join(sshd.home, '.berth/runs/one')))
        expect([name, mode(`.berth/runs/one/${name}`) & 0o077]).toEqual([name, 0])
    },
  )
})

const polling = { timeout: 20_000 }

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
