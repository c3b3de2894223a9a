import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createSsh, type Ssh } from '../../../electron/ssh/connection/connections.ts'
import { scratchMachine } from './machine.ts'
import { hasSshd, type Sshd, startSshd } from './sshd.ts'
import { answerTo, target } from './steps.ts'

describe.skipIf(!hasSshd).concurrent('whether the other side of a connection is still there', () => {
  test('nothing comes any more: noticed, but not at the first silence', { timeout: 60_000 }, () =>
    withServer(async (sshd, ssh) => {
      const shell = await ssh.openShell(target({ proxy: sshd }))
      await answerTo(shell, 'true')
      sshd.freezeConnections()
      const start = performance.now()
      const problem = await shell.ended
      const seconds = (performance.now() - start) / 1000
      expect(problem?.code).toBe('ssh_closed')
      expect(seconds).toBeGreaterThan(5)
    }),
  )

  test('a shell that nobody reads and nobody writes to is not taken for dead', { timeout: 45_000 }, () =>
    withServer(async (sshd, ssh) => {
      const shell = await ssh.openShell(target({ proxy: sshd }))
      shell.stream.write('cat /dev/zero\n')
      const first = await Promise.race([shell.ended.then(() => 'ended'), wait(15_000, 'alive')])
      expect(first).toBe('alive')
    }),
  )

  test('a new shell does not wait until a dead connection is noticed', () =>
    withServer(async (sshd, ssh) => {
      const old = await ssh.openShell(target({ proxy: sshd }))
      await answerTo(old, 'true')
      sshd.freezeConnections()
      const opened = ssh.openShell(target({ proxy: sshd })).then(fresh => answerTo(fresh, 'echo fresh'))
      expect(await Promise.race([opened, old.ended.then(() => 'the dead one was noticed')])).toBe('fresh')
    }))
})

async function withServer(work: (sshd: Sshd, ssh: Ssh) => Promise<void>): Promise<void> {
  const sshd = await startSshd()
  const machine = scratchMachine()
  const ssh = createSsh(machine)
  try {
    sshd.authorize((await ssh.keys.locate('berth')).publicKey)
    await work(sshd, ssh)
  } finally {
    await ssh.close()
    await sshd.close()
    machine.remove()
  }
}
