import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { type Sshd, startSshd } from './sshd.ts'
import { account } from './steps.ts'

/** A real OpenSSH server, and a Berth that begins anew with each test and whose key gets in. */
export interface AtSshd {
  sshd: Sshd
  machine: ScratchMachine
  ssh: Ssh
  /** Called after the test, the last first, while the connections are still there. */
  readonly endings: (() => unknown)[]
}

/** The same server for all tests of a file, with these lines of sshd's configuration. */
export function useSshd(lines: readonly string[] = []): AtSshd {
  const at = { endings: [] as (() => unknown)[] } as AtSshd
  beforeAll(async () => {
    at.sshd = await startSshd(lines)
  })
  afterAll(() => at.sshd?.close())
  beforeEach(async () => {
    at.machine = scratchMachine()
    at.ssh = createSsh(at.machine)
    at.sshd.authorize((await at.ssh.keysOf(account).locate('berth')).publicKey)
  })
  afterEach(async () => {
    for (const end of at.endings.splice(0).reverse()) await end()
    await at.ssh.close()
    at.machine.remove()
  })
  return at
}
