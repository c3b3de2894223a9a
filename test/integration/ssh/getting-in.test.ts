import { statSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SshAddress } from '../../../electron/contract/instance.ts'
import { BerthError, type Problem } from '../../../electron/contract/problem.ts'
import { createSsh, type Ssh } from '../../../electron/ssh/connections.ts'
import type { Shell } from '../../../electron/ssh/shell.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { freePort, hasSshd, type Sshd, startSshd } from './sshd.ts'

const account = 'a00000001'

describe.skipIf(!hasSshd)('getting in, at a real OpenSSH server', () => {
  let sshd: Sshd
  let machine: ScratchMachine
  let ssh: Ssh

  beforeAll(async () => {
    sshd = await startSshd(['MaxSessions 3'])
  })
  afterAll(() => sshd?.close())

  beforeEach(async () => {
    machine = scratchMachine()
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keys.locate('berth')).publicKey)
  })
  afterEach(async () => {
    await ssh.close()
    machine.remove()
  })

  function open(
    more: { direct?: SshAddress; proxy?: SshAddress; jupyter?: boolean; deadlineMs?: number } = {},
  ) {
    const { direct, proxy, jupyter = false, deadlineMs = 8000 } = more
    const addresses =
      direct || proxy ? { ...(direct && { direct }), ...(proxy && { proxy }) } : { proxy: sshd }
    return ssh.openShell({
      account,
      instance: 4711,
      addresses,
      jupyterRuntype: jupyter,
      keyName: 'berth',
      columns: 101,
      rows: 33,
      deadlineMs,
    })
  }

  test('a key that is attached opens a shell of the size that was asked for', async () => {
    const shell = await open()
    expect(await answerTo(shell, 'stty size')).toBe('33 101')
    expect(shell.address).toBe(`root@127.0.0.1:${sshd.port}`)
    expect(shell.direct).toBe(false)
  })

  test('a resize is seen by what runs in it', async () => {
    const shell = await open()
    await answerTo(shell, 'true')
    shell.resize(140, 50)
    await expect.poll(() => answerTo(shell, 'stty size')).toBe('50 140')
  })

  test('its end by the shell itself is no problem', async () => {
    const shell = await open()
    shell.stream.resume()
    shell.stream.write('exit 3\n')
    expect(await shell.ended).toBeUndefined()
    await expect.poll(() => sshd.connections()).toBe(0)
  })

  test('a key that is not attached is refused, with its name and what to do', async () => {
    sshd.authorize()
    const problem = await problemOf(open())
    expect(problem.code).toBe('key_refused')
    expect(problem.facts).toEqual({ key: 'berth', fingerprint: (await ssh.keys.locate('berth')).fingerprint })
    expect(problem.advice).toMatch(/attach/i)
  })

  test('a changed host key is refused with both fingerprints, and let in once that very key is accepted', async () => {
    const known = sshd.fingerprint()
    ;(await open()).close()
    await expect.poll(() => sshd.connections()).toBe(0)
    const offered = await sshd.changeHostKey()
    const problem = await problemOf(open())
    expect(problem.code).toBe('host_key_changed')
    expect(problem.facts).toEqual({ known, offered })

    const other = `SHA256:${'A'.repeat(43)}`
    expect((await problemOf(ssh.knownHosts.accept(account, 4711, other))).code).toBe('host_key_not_offered')
    expect((await problemOf(open())).code).toBe('host_key_changed')

    await ssh.knownHosts.accept(account, 4711, offered)
    expect(await answerTo(await open(), 'echo in')).toBe('in')
    // What is remembered outlives this run.
    const next = createSsh(machine)
    expect((await next.knownHosts.known(account, 4711)) !== undefined).toBe(true)
  })

  test('the private key is readable by the user alone', async () => {
    expect(statSync((await ssh.keys.locate('berth')).path).mode & 0o777).toBe(0o600)
  })

  test('nothing at the direct address leads to the proxy, within one deadline', async () => {
    const shell = await open({ direct: { host: '127.0.0.1', port: await freePort() }, proxy: sshd })
    expect(shell.direct).toBe(false)
    expect(await answerTo(shell, 'echo in')).toBe('in')
  })

  test('a direct address that answers is preferred', async () => {
    const shell = await open({ direct: sshd, proxy: { host: '127.0.0.1', port: await freePort() } })
    expect(shell.direct).toBe(true)
  })

  test('nobody anywhere is a sentence, not a hang', async () => {
    const nobody = { host: '127.0.0.1', port: await freePort() }
    expect((await problemOf(open({ direct: nobody, proxy: nobody }))).code).toBe('ssh_unreachable')
    expect((await problemOf(open({ proxy: { host: '-oProxyCommand=id', port: 22 } }))).code).toBe(
      'bad_address',
    )
  })
})

/** The lines that a command prints, with a prompt and an echo around them. */
function answerTo(shell: Shell, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const look = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const found = /<<\r?\n([\s\S]*?)\r?\n?>>/.exec(text)
      if (found === null) return
      shell.stream.off('data', look)
      resolve(found[1] ?? '')
    }
    shell.stream.on('data', look)
    shell.ended.then(problem => reject(new Error(`the shell ended: ${problem?.message} after ${text}`)))
    shell.stream.write(`echo "<""<"; ${command}; echo ">"">"\n`)
  })
}

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    reason => reason,
  )
  if (error instanceof BerthError) return error.problem
  throw error ?? new Error('nothing was wrong')
}
