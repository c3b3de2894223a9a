import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { endRun, type RetryOrder, readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'

const before = `export OWN='of the project' && cd ~ || exit 1\n`

/** Starts a command that is tried again, and gives its status and what it printed. */
async function retried(command: string, attempts: Partial<RetryOrder> = {}) {
  const { sshd, connect } = await openPlace([])
  const { connection } = await connect()
  await startRun(connection, systemClock, 'one', {
    command,
    before,
    attempts: { times: 3, pause: 1, codes: ['error'], ...attempts },
    order: undefined,
    environment: {},
  })
  const status = () => readRunStatus(connection, systemClock, 'one', 0)
  const printed = () => readFileSync(join(sshd.home, '.berth/runs/one/output'), 'utf8')
  return { sshd, connection, status, printed }
}

describe.skipIf(noSshd)(`a run whose command is tried again${noSshd}`, () => {
  test('succeeds once an attempt does, in the environment that was prepared once', async () => {
    const command =
      'echo "$OWN $# attempt"; test -e twice || { test -e once && >> twice; >> once; exit 137; }'
    const { status, printed } = await retried(command, { codes: [137] })
    const during = { state: 'running', attempts: { failed: 1, code: 137, pause: expect.any(Number) } }
    await expect.poll(status).toMatchObject(during)
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({ state: 'ended', code: 0 })
    expect(await status()).toMatchObject({ attempts: { failed: 2, code: 137, pause: 0 } })
    expect(printed().split('\n')).toEqual([
      'of the project 0 attempt',
      'Berth: exit code 137 (killed, often out of memory). Retry 1 of 3 begins in 1 s.',
      'of the project 0 attempt',
      'Berth: exit code 137 (killed, often out of memory). Retry 2 of 3 begins in 2 s.',
      'of the project 0 attempt',
      '',
    ])
  })

  test.each([
    ['a code that isn’t named ends it', 'exit 3', { codes: [137, 124] }, 3, 0],
    ['the last attempt ends it', 'false', { times: 1 }, 1, 1],
    ['three failures at once end it', '(exit 9) | cat', { times: 9, pause: 0 }, 9, 2],
  ] as const)('ends with the last code: %s', async (_, command, attempts, code, failed) => {
    const { status, printed } = await retried(command, attempts)
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({ state: 'ended', code })
    expect((await status()).attempts?.failed ?? 0).toBe(failed)
    expect(printed().includes('three times in a row')).toBe(failed === 2)
  })

  test.each([
    ['during a pause', 'exit 1', { pause: 600 }],
    ['during an attempt', 'echo on; sleep 600', {}],
  ])('ends when it is asked to, %s', async (_, command, attempts) => {
    const { connection, status, printed } = await retried(command, attempts)
    await expect.poll(printed).not.toBe('')
    await endRun(connection, systemClock, 'one')
    await expect.poll(status).toMatchObject({ state: 'ended', code: 143 })
  })
})
