import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processes, readProcess } from '#build/process-tree.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { readRunStatus, type StopNotice, startRun, tellOfStop } from '#ssh/runs/runs.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'

/** Starts a command that hears of a stop, once it has created the file `up`. */
async function started(command: string, notice: StopNotice) {
  const { sshd, connect } = await openPlace([])
  const { connection } = await connect()
  const before = 'export OWN=own && cd ~ || exit 1\n'
  await startRun(connection, systemClock, 'one', {
    command,
    before,
    notice,
    order: undefined,
    environment: {},
  })
  await expect.poll(() => existsSync(join(sshd.home, 'up'))).toBe(true)
  const status = () => readRunStatus(connection, systemClock, 'one', 0)
  return {
    status,
    tell: () => tellOfStop(connection, systemClock, 'one'),
    /** What the command and the hook wrote. */
    told: () => (existsSync(join(sshd.home, 'told')) ? readFileSync(join(sshd.home, 'told'), 'utf8') : ''),
    printed: async () => (await status()).bytes.toString(),
  }
}

const saves = (signal: string, then: string, seconds = 1) =>
  `sh -c 'trap "sleep ${seconds}; echo saved >> told; ${then}" ${signal}; > up; while :; do sleep 0.1; done'; echo after >> told`

describe.skipIf(noSshd)(`a command that hears of a stop${noSshd}`, () => {
  test('gets SIGTERM with all it started, and time to save; its end says that it wasn’t done', async () => {
    const { tell, told, status } = await started(saves('TERM', 'exit 0'), { signal: 'TERM', seconds: 60 })
    expect(await tell()).toBe(false)
    await expect.poll(tell).toBe(true)
    expect(told()).toBe('saved\n')
    await expect.poll(status).toMatchObject({ state: 'ended', code: 143 })
  })

  test('gets another signal only where it takes it, and goes on', async () => {
    const { tell, told, status } = await started(saves('USR1', ':'), {
      signal: 'USR1',
      run: 'sleep 2; echo "hook $OWN" >> told',
      seconds: 60,
    })
    expect(await tell()).toBe(false)
    await expect.poll(tell, { timeout: 20_000 }).toBe(true)
    expect(told().split('\n').sort()).toEqual(['', 'hook own', 'saved'])
    expect(await status()).toMatchObject({ state: 'running' })
  })

  test.each([
    ['though the hook has ended long before', 'true'],
    ['and no more than that without a hook', undefined],
  ])('has its time to save after another signal, %s', async (_, run) => {
    const { tell, told, status } = await started(saves('USR1', ':', 5), { signal: 'USR1', run, seconds: 60 })
    await expect.poll(tell, { timeout: 40_000 }).toBe(true)
    expect(told()).toBe('saved\n')
    expect(await status()).toMatchObject({ state: 'running' })
  })

  test('has so long at most, after which a hook that never ends is ended, with all that it has started', async () => {
    const name = `left${randomBytes(8).toString('hex')}`
    const hook = {
      signal: 'TERM',
      run: `(setsid perl -e '$SIG{TERM} = "IGNORE"; sleep 600' ${name} &); (echo begun >> told; sleep 600; echo late >> told)`,
      seconds: 2,
    } as const
    const { tell, told, printed } = await started('trap "" TERM; > up; while :; do sleep 0.1; done', hook)
    await expect.poll(tell, { timeout: 20_000 }).toBe(true)
    expect(told()).toBe('begun\n')
    await expect.poll(printed).toContain('has not ended in 2 s')
    const left = () => processes().filter(({ pid }) => readProcess(pid, 'cmdline').includes(name))
    await expect.poll(left).toEqual([])
  })

  test('that has ended, or hears of nothing, is not waited for', async () => {
    const { tell, status } = await started('> up; exit 3', { signal: 'TERM', seconds: 60 })
    await expect.poll(status).toMatchObject({ state: 'ended', code: 3 })
    expect(await tell()).toBe(true)
  })
})
