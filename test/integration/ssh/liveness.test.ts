import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Clock } from '#platform/platform.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import { outputOf, runScript } from '#ssh/exec.ts'
import { openSftp } from '#ssh/files/sftp.ts'
import { openShellOn } from '#ssh/shell/shell.ts'
import { problemOf } from '#test/berth/steps.ts'
import { listen } from '#test/loopback.ts'
import { newKey } from '#test/new-key.ts'
import { openScratch, scratchMachine } from './machine.ts'
import { noSshd } from './own-root.ts'
import { type Sshd, startSshd } from './sshd.ts'
import { account, answerTo, target } from './steps.ts'

describe.skipIf(noSshd).concurrent(`the liveness of a connection${noSshd}`, () => {
  test('a frozen connection ends as ssh_closed, after more than 5 seconds', () =>
    withServer(async (sshd, ssh, clock) => {
      const shell = await ssh.openShell(target({ proxy: sshd }))
      await answerTo(shell, 'true')
      sshd.freezeConnections()
      const start = clock.monotonic()
      const problem = await shell.ended
      const seconds = (clock.monotonic() - start) / 1000
      expect(problem?.code).toBe('ssh_closed')
      expect(seconds).toBeGreaterThan(5)
    }))

  test('a command that had answered in part when the connection was cut ends with ssh_closed', () =>
    withServer(async (sshd, ssh, clock) => {
      const { connection } = await ssh.connect(target({ proxy: sshd }))
      const bounds = { clock, within: 60_000, most: 100 }
      const there = join(sshd.home, 'there')
      const asked = problemOf(outputOf(connection, `echo half; touch ${there}; sleep 60`, bounds))
      await vi.waitFor(() => expect(existsSync(there)).toBe(true), { timeout: 150_000, interval: 20 })
      sshd.dropConnections()
      expect(await asked).toMatchObject({ code: 'ssh_closed' })
    }))

  test('a script that is killed when it had answered in part ends with ssh_closed', () =>
    withServer(async (sshd, ssh, clock) => {
      const { connection } = await ssh.connect(target({ proxy: sshd }))
      const bounds = { clock, within: 60_000, most: 100 }
      const asked = problemOf(runScript(connection, {}, ['echo half; kill -9 $$'], bounds))
      expect(await asked).toMatchObject({ code: 'ssh_closed' })
    }))

  test('a shell whose output nobody reads stays alive', () =>
    withServer(async (sshd, ssh, clock) => {
      const shell = await ssh.openShell(target({ proxy: sshd }))
      shell.stream.write('cat /dev/zero\n')
      const wait = new Promise(resolve => clock.after(15_000, () => resolve('alive')))
      const first = await Promise.race([shell.ended.then(() => 'ended'), wait])
      expect(first).toBe('alive')
    }))

  test('a new shell opens before a dead connection is detected', () =>
    withServer(async (sshd, ssh) => {
      const old = await ssh.openShell(target({ proxy: sshd }))
      await answerTo(old, 'true')
      sshd.freezeConnections()
      const opened = ssh.openShell(target({ proxy: sshd })).then(fresh => answerTo(fresh, 'echo fresh'))
      expect(await Promise.race([opened, old.ended.then(() => 'the dead one was noticed')])).toBe('fresh')
    }))
})

/** On a clock of twice the speed, at which a host's signs of life still come in time: ssh2 asks for them in real time. */
async function withServer(work: (sshd: Sshd, ssh: Ssh, clock: Clock) => Promise<void>): Promise<void> {
  const sshd = await startSshd()
  const machine = scratchMachine()
  const clock: Clock = {
    ...machine.clock,
    monotonic: () => 2 * machine.clock.monotonic(),
    after: (milliseconds, callback) => machine.clock.after(milliseconds / 2, callback),
  }
  const ssh = createSsh({ ...machine, clock })
  try {
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
    await work(sshd, ssh, clock)
  } finally {
    await ssh.close()
    await sshd.close()
    machine.remove()
  }
}

describe.each([
  [
    'a command',
    (connection: Connection, clock: Clock) => outputOf(connection, 'true', { clock, within: 1000, most: 1 }),
    { problem: { code: 'ssh_closed' } },
  ],
  [
    'a shell',
    (connection: Connection) => openShellOn(connection, true, { columns: 80, rows: 24 }),
    { problem: { code: 'ssh_closed' } },
  ],
  ['files', openSftp, { name: 'SftpLost' }],
])('%s requested from a host that answers pings but no request', (_name, ask, loss) => {
  test('ends with ssh_timeout, and so does the connection', async () => {
    let passMinute: (pass: () => void) => void = () => undefined
    const minute = new Promise<() => void>(resolve => {
      passMinute = resolve
    })
    const clock: Clock = {
      ...systemClock,
      // The test ends the minute in which a host must answer.
      after(milliseconds, callback) {
        if (milliseconds !== 60_000) return systemClock.after(milliseconds, callback)
        passMinute(callback)
        return () => undefined
      },
    }
    const { ssh } = openScratch(clock)
    const { connection } = await ssh.connect(target({ direct: await silentHost() }))
    const asked = problemOf(ask(connection, clock))
    const pass = await minute
    pass()
    expect(await asked).toMatchObject({ code: 'ssh_timeout' })
    expect(await connection.lost).toMatchObject({ code: 'ssh_closed' })
  })

  test('is no refusal once the connection is lost', async () => {
    const { machine, ssh } = openScratch()
    let cut: () => void = () => undefined
    const host = await silentHost(client => {
      cut = () => client.end()
    })
    const { connection } = await ssh.connect(target({ direct: host }))
    const asked = ask(connection, machine.clock).catch(error => error)
    cut()
    expect(await asked).toMatchObject(loss)
    await expect(ask(connection, machine.clock)).rejects.toMatchObject(loss)
  })

  test('ends when its account is disconnected', async () => {
    const { machine, ssh } = openScratch()
    const host = target({ direct: await silentHost() })
    const { connection } = await ssh.connect(host)
    const asked = ask(connection, machine.clock).catch(error => error)
    await ssh.disconnect(host.account)
    expect(await asked).toMatchObject(loss)
    expect(await connection.lost).toBeUndefined()
  })
})

test('a connection that ends while its host key is stored is reported as lost', async () => {
  const { ssh } = openScratch()
  const host = await silentHost(client => client.end())
  const { connection } = await ssh.connect(target({ direct: host }))
  expect(await connection.lost).toMatchObject({ code: 'ssh_closed' })
})

/** A server that accepts every login and answers no request in a session. */
async function silentHost(
  entered: (client: ssh2.Connection) => void = () => undefined,
): Promise<{ host: string; port: number }> {
  const hostKey = newKey().private
  const server = new ssh2.Server({ hostKeys: [hostKey] }, client => {
    client.on('error', () => undefined)
    client.on('authentication', context => context.accept())
    client.on('ready', () => entered(client))
    client.on('session', accept => {
      const session = accept()
      for (const request of ['exec', 'sftp', 'pty'] as const) session.on(request, () => undefined)
    })
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  return { host: '127.0.0.1', port }
}
