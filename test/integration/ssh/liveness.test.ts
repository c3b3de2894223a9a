import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createSsh, type Ssh } from '../../../electron/ssh/connection/connections.ts'
import { scratchMachine } from './machine.ts'
import { hasSshd, type Sshd, startSshd } from './sshd.ts'
import { answerTo, target } from './steps.ts'

describe.skipIf(!hasSshd).concurrent('whether the other side of a connection is still there', () => {
  test('nothing comes any more: noticed within 15 seconds', { timeout: 30_000 }, () =>
    withServer(async (sshd, ssh) => {
      const shell = await ssh.openShell(target({ proxy: sshd }))
      await answerTo(shell, 'true')
      sshd.freezeConnections()
      const start = performance.now()
      const problem = await shell.ended
      const seconds = (performance.now() - start) / 1000
      expect(problem?.code).toBe('ssh_closed')
      expect(seconds).toBeGreaterThan(5)
      expect(seconds).toBeLessThan(15)
    }),
  )

  test('a shell that nobody reads and nobody writes to is not taken for dead', { timeout: 30_000 }, () =>
    withServer(async (sshd, ssh) => {
      const shell = await ssh.openShell(target({ proxy: sshd }))
      shell.stream.write('cat /dev/zero\n')
      const first = await Promise.race([shell.ended.then(() => 'ended'), wait(15_000, 'alive')])
      expect(first).toBe('alive')
    }),
  )

  test('a new shell does not wait until a dead connection is noticed', () =>
    withServer(async (sshd, ssh) => {
      await answerTo(await ssh.openShell(target({ proxy: sshd })), 'true')
      sshd.freezeConnections()
      const start = performance.now()
      const fresh = await ssh.openShell(target({ proxy: sshd }))
      expect(await answerTo(fresh, 'echo fresh')).toBe('fresh')
      expect(performance.now() - start).toBeLessThan(9000)
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
