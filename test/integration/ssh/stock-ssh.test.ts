import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import { quote } from '#ssh/ssh-command.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { hasSshd, type Sshd, startSshd } from './sshd.ts'
import { account, looseConfig, problemOf, strictOptions, target } from './steps.ts'

const run = promisify(execFile)

describe.skipIf(!hasSshd)('the command for the system’s own ssh', () => {
  let sshd: Sshd
  let machine: ScratchMachine
  let ssh: Ssh

  beforeAll(async () => {
    sshd = await startSshd()
  })
  afterAll(() => sshd?.close())
  beforeEach(async () => {
    machine = scratchMachine() // with a space in the path of Berth's files
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
  })
  afterEach(async () => {
    await ssh.close()
    machine.remove()
  })

  const visit = async () => (await ssh.openShell(target({ proxy: sshd }))).close()
  const batch = ['-o', 'BatchMode=yes']

  test('connects without a question once Berth knows the host', async () => {
    await visit()
    const [program = '', ...args] = await ssh.command(target({ proxy: sshd }), sshd)
    const { stdout } = await run(program, [...batch, ...args, 'echo in'])
    expect(stdout).toBe('in\n')
  })

  test('connects also as the line copied into a shell', async () => {
    await visit()
    const line = quote(await ssh.command(target({ proxy: sshd }), sshd))
    const { stdout } = await run('/bin/sh', ['-c', `${line} 'echo in'`])
    expect(stdout).toBe('in\n')
  })

  test('refuses a host key other than the one Berth knows', async () => {
    await visit()
    await sshd.changeHostKey()
    const [program = '', ...args] = await ssh.command(target({ proxy: sshd }), sshd)
    await expect(run(program, [...batch, ...args, 'true'])).rejects.toThrow(/IDENTIFICATION HAS CHANGED/)
  })

  test('keeps its strict options against the user’s options for all hosts', async () => {
    const loose = join(machine.home, '.ssh', 'config')
    writeFileSync(loose, `${looseConfig}  IdentityFile ~/.ssh/work\n`)
    const [program = '', ...args] = await ssh.command(target({ proxy: sshd }), sshd)
    // Of two files that -F names, the last counts.
    const { stdout } = await run(program, ['-F', loose, '-G', ...args])
    const lines = stdout.split('\n')
    expect(lines).toEqual(expect.arrayContaining(strictOptions))
    expect(lines.filter(line => line.startsWith('identityfile '))).toHaveLength(1)
    await visit()
    await sshd.changeHostKey()
    const again = run(program, ['-F', loose, '-o', 'BatchMode=yes', ...args, 'true'])
    await expect(again).rejects.toThrow(/IDENTIFICATION HAS CHANGED/)
  })

  test('adds the host key of a first connection to Berth’s known hosts', async () => {
    const [program = '', ...args] = await ssh.command(target({ proxy: sshd }), sshd)
    await run(program, [...batch, ...args, 'true'])
    expect(readFileSync(ssh.knownHosts.path, 'utf8')).toMatch(/^berth-a00000001-4711 ssh-ed25519 /m)
    await ssh.drop(account, 1) // rewrites the file
    const known = sshd.fingerprint()
    const offered = await sshd.changeHostKey()
    const problem = await problemOf(ssh.openShell(target({ proxy: sshd })))
    expect(problem.facts).toEqual({ known, offered })
    await ssh.drop(account, 4711)
    expect(readFileSync(ssh.knownHosts.path, 'utf8')).not.toMatch(/^berth-a00000001-4711 /m)
  })
})
