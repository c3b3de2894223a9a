import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSsh } from '#ssh/connection/connections.ts'
import { codeOf, problemOf } from '#test/berth/steps.ts'
import { listen } from '#test/loopback.ts'
import { noSshd } from './own-root.ts'
import { freePort, startSshd } from './sshd.ts'
import { account, answerTo, target, type Wanted } from './steps.ts'
import { useSshd } from './use-sshd.ts'

describe.skipIf(noSshd)(`connecting to a real OpenSSH server${noSshd}`, () => {
  const at = useSshd(['MaxSessions 3'])

  const open = (wanted: Wanted = { proxy: at.sshd }) => at.ssh.openShell(target(wanted))

  /** Connects once and waits for the end: a shell opened right after another shares its connection. */
  async function comeAndGo(): Promise<void> {
    ;(await open()).close()
    await expect.poll(() => at.sshd.connections()).toBe(0)
  }

  test('an attached key opens a shell with the requested size', async () => {
    const shell = await open()
    expect(await answerTo(shell, 'stty size')).toBe('33 101')
    expect(shell.address).toBe(`root@127.0.0.1:${at.sshd.port}`)
    expect(shell.direct).toBe(false)
  })

  test('a resize reaches the shell', async () => {
    const shell = await open()
    await answerTo(shell, 'true')
    shell.resize(140, 50)
    await expect.poll(() => answerTo(shell, 'stty size')).toBe('50 140')
  })

  test('the end of a shell by exit is no problem', async () => {
    const shell = await open()
    shell.stream.resume()
    shell.stream.write('exit 3\n')
    expect(await shell.ended).toBeUndefined()
    await expect.poll(() => at.sshd.connections()).toBe(0)
  })

  test('an unattached key is refused, with its name and advice', async () => {
    at.sshd.authorize()
    const problem = await problemOf(open())
    expect(problem.code).toBe('key_refused')
    expect(problem.facts).toEqual({
      key: 'berth',
      fingerprint: (await at.ssh.keysOf(account).locate('berth')).fingerprint,
    })
    expect(problem.advice).toMatch(/attach/i)
  })

  test('rejects a changed host key until that very key is accepted', async () => {
    const known = at.sshd.fingerprint()
    await comeAndGo()
    const offered = await at.sshd.changeHostKey()
    const problem = await problemOf(open())
    expect(problem.code).toBe('host_key_changed')
    expect(problem.facts).toEqual({ known, offered })

    const other = `SHA256:${'A'.repeat(43)}`
    expect(await codeOf(at.ssh.knownHosts.accept(account, 4711, other))).toBe('host_key_not_offered')
    expect(await codeOf(open())).toBe('host_key_changed')

    await at.ssh.knownHosts.accept(account, 4711, offered)
    expect(await answerTo(await open(), 'echo in')).toBe('in')
    // Known host keys outlive this run.
    const next = createSsh(at.machine)
    expect((await next.knownHosts.known(account, 4711)) !== undefined).toBe(true)
  })

  test('asks whether it is another account’s host, where nothing there tells, and no key works there', async () => {
    await comeAndGo()
    const other = 'a00000002'
    const misled = (mark?: string) =>
      at.ssh.openShell({ ...target({ proxy: at.sshd, instance: 1 }), account: other, mark })
    expect(await codeOf(misled())).toBe('key_refused')
    const own = (await at.ssh.keysOf(account).locate('berth')).publicKey
    at.sshd.authorize(own, (await at.ssh.keysOf(other).locate('berth')).publicKey)
    // That a Berth rented it is no proof here: the other service may have given this address on purpose.
    for (const mark of [undefined, 'r0123456789abcdef']) {
      const problem = await problemOf(misled(mark))
      expect(problem.code).toBe('host_key_known_elsewhere')
      expect(problem.facts).toEqual({ offered: at.sshd.fingerprint() })
    }
    await at.ssh.knownHosts.accept(other, 1, at.sshd.fingerprint())
    expect(await answerTo(await misled(), 'echo in')).toBe('in')
  })

  test('of several instances with one host key, only the one that answers as itself is used', async () => {
    await comeAndGo()
    const label = join(at.sshd.home, '.vast_containerlabel')
    at.endings.push(() => rmSync(label, { force: true }))
    writeFileSync(label, 'C.4711\n')
    const second = () => open({ proxy: at.sshd, instance: 4712 })
    const problem = await problemOf(second())
    expect(problem).toMatchObject({ code: 'ssh_other_instance', message: expect.stringContaining('#4711') })
    expect(await at.ssh.knownHosts.known(account, 4712)).toBeUndefined()
    writeFileSync(label, 'C.4712\n')
    expect(await answerTo(await second(), 'echo in')).toBe('in')
    expect((await at.ssh.knownHosts.known(account, 4712)) !== undefined).toBe(true)
  })

  test('a guessed port with another instance’s host key is ssh_unreachable', async () => {
    await comeAndGo()
    const proxy = { host: '127.0.0.1', port: at.sshd.port - 1 }
    expect(await codeOf(open({ proxy, jupyter: true, instance: 4712 }))).toBe('ssh_unreachable')
  })

  test('removing an account deletes its SSH key and host keys, and no others', async () => {
    const other = 'a00000002'
    await comeAndGo()
    const mine = (await at.ssh.keysOf(account).locate('berth')).path
    const theirs = (await at.ssh.keysOf(other).locate('berth')).path
    await at.ssh.forgetAccount(account)
    expect([existsSync(mine), existsSync(`${mine}.pub`), existsSync(theirs)]).toEqual([false, false, true])
    expect(await at.ssh.knownHosts.known(account, 4711)).toBeUndefined()
  })

  test('the private key is readable only by the user', async () => {
    expect(statSync((await at.ssh.keysOf(account).locate('berth')).path).mode & 0o777).toBe(0o600)
  })

  test('the proxy is used if nothing answers at the direct address', async () => {
    const shell = await open({ direct: { host: '127.0.0.1', port: await freePort() }, proxy: at.sshd })
    expect(shell.direct).toBe(false)
    expect(await answerTo(shell, 'echo in')).toBe('in')
  })

  test('a direct address that answers is preferred', async () => {
    const shell = await open({ direct: at.sshd, proxy: { host: '127.0.0.1', port: await freePort() } })
    expect(shell.direct).toBe(true)
  })

  test('unreachable and bad addresses end with a problem', async () => {
    const nobody = { host: '127.0.0.1', port: await freePort() }
    expect(await codeOf(open({ direct: nobody, proxy: nobody }))).toBe('ssh_unreachable')
    expect(await codeOf(open({ proxy: { host: '-oProxyCommand=id', port: 22 } }))).toBe('bad_address')
  })

  test('for a runtype with Jupyter the next port is used if it accepts the key', async () => {
    const proxy = { host: '127.0.0.1', port: at.sshd.port - 1 }
    const shell = await open({ proxy, jupyter: true })
    expect(shell.address).toBe(`root@127.0.0.1:${at.sshd.port}`)
    expect(await codeOf(open({ proxy, instance: 4712 }))).toBe('ssh_unreachable')
  })

  test('a guessed port that refuses the key does not store its host key', async () => {
    at.sshd.authorize()
    const proxy = { host: '127.0.0.1', port: at.sshd.port - 1 }
    expect(await codeOf(open({ proxy, jupyter: true }))).toBe('key_refused')
    expect(await at.ssh.knownHosts.known(account, 4711)).toBeUndefined()
  })

  test('the changed host key of a guessed port is not offered to accept', async () => {
    await comeAndGo()
    await at.sshd.changeHostKey()
    const proxy = { host: '127.0.0.1', port: at.sshd.port - 1 }
    expect(await codeOf(open({ proxy, jupyter: true }))).toBe('ssh_unreachable')
  })

  test('of two changed host keys at two addresses, the reported one can be accepted', async () => {
    const other = await startSshd()
    try {
      await comeAndGo()
      const told = await at.sshd.changeHostKey()
      const problem = await problemOf(open({ direct: at.sshd, proxy: other }))
      expect(problem.facts?.['offered']).toBe(told)
      await at.ssh.knownHosts.accept(account, 4711, told)
      expect((await open({ direct: at.sshd, proxy: other })).direct).toBe(true)
    } finally {
      await other.close()
    }
  })

  test('a silent host ends with ssh_timeout, or the proxy is used', async () => {
    const mute = createServer()
    const port = await listen(mute)
    const problem = await problemOf(open({ proxy: { host: '127.0.0.1', port }, deadlineMs: 600 }))
    expect(problem.code).toBe('ssh_timeout')
    const shell = await open({ direct: { host: '127.0.0.1', port }, proxy: at.sshd, deadlineMs: 8000 })
    expect(shell.direct).toBe(false)
    mute.close()
  })

  test('the user’s own keys work, and one with a passphrase is key_locked', async () => {
    const folder = join(at.machine.home, '.ssh')
    const make = (name: string, type: string, passphrase: string) =>
      execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-f', join(folder, name)])
    make('id_plain', 'ed25519', '')
    make('id_locked', 'ed25519', 'secret words')
    make('id_rsa', 'rsa', '')
    const keys = await at.ssh.keysOf(account).list()
    expect(keys.map(({ name, needsPassphrase }) => [name, needsPassphrase])).toEqual([
      ['berth', false],
      ['id_locked', true],
      ['id_plain', false],
      ['id_rsa', false],
    ])
    for (const { name, fingerprint } of keys.slice(1)) {
      const shown = execFileSync('ssh-keygen', ['-lf', join(folder, `${name}.pub`)], { encoding: 'utf8' })
      expect(shown).toContain(fingerprint)
    }
    at.sshd.authorize(...keys.map(key => key.publicKey))
    for (const keyName of ['id_plain', 'id_rsa']) {
      const shell = await open({ proxy: at.sshd, keyName })
      expect(await answerTo(shell, 'echo in')).toBe('in')
    }
    expect(await codeOf(open({ proxy: at.sshd, keyName: 'id_locked' }))).toBe('key_locked')
    for (const keyName of ['id_gone', '../.ssh/id_plain', '']) {
      expect(await codeOf(open({ proxy: at.sshd, keyName }))).toBe('key_missing')
    }
  })

  test('probe gives the address at which SSH answers, without an accepted key', async () => {
    at.sshd.authorize()
    const nobody = { host: '127.0.0.1', port: await freePort() }
    const ask = (wanted: Wanted) => at.ssh.probe(target(wanted))
    expect((await ask({ direct: nobody, proxy: at.sshd })).way).toBe('proxy')
    expect(await codeOf(ask({ direct: nobody }))).toBe('ssh_unreachable')
  })
})
