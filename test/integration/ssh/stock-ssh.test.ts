import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { quote } from '#ssh/ssh-command.ts'
import { problemOf } from '#test/berth/steps.ts'
import { noSshd } from './own-root.ts'
import { account, looseConfig, strictOptions, target } from './steps.ts'
import { useSshd } from './use-sshd.ts'

const run = promisify(execFile)

describe.skipIf(noSshd)(`the command for the system’s own ssh${noSshd}`, () => {
  const at = useSshd()

  const visit = async () => (await at.ssh.openShell(target({ proxy: at.sshd }))).close()
  const batch = ['-o', 'BatchMode=yes']

  test('connects without a question once Berth knows the host', async () => {
    await visit()
    const [program = '', ...args] = await at.ssh.command(target({ proxy: at.sshd }), at.sshd)
    const { stdout } = await run(program, [...batch, ...args, 'echo in'])
    expect(stdout).toBe('in\n')
  })

  test('connects also as the line copied into a shell', async () => {
    await visit()
    const line = quote(await at.ssh.command(target({ proxy: at.sshd }), at.sshd))
    const { stdout } = await run('/bin/sh', ['-c', `${line} 'echo in'`])
    expect(stdout).toBe('in\n')
  })

  test('refuses a host key other than the one Berth knows', async () => {
    await visit()
    await at.sshd.changeHostKey()
    const [program = '', ...args] = await at.ssh.command(target({ proxy: at.sshd }), at.sshd)
    await expect(run(program, [...batch, ...args, 'true'])).rejects.toThrow(/IDENTIFICATION HAS CHANGED/)
  })

  test('keeps its strict options against the user’s options for all hosts', async () => {
    const loose = join(at.machine.home, '.ssh', 'config')
    writeFileSync(loose, `${looseConfig}  IdentityFile ~/.ssh/work\n`)
    const [program = '', ...args] = await at.ssh.command(target({ proxy: at.sshd }), at.sshd)
    // Of two files that -F names, the last counts.
    const { stdout } = await run(program, ['-F', loose, '-G', ...args])
    const lines = stdout.split('\n')
    expect(lines).toEqual(expect.arrayContaining(strictOptions))
    expect(lines.filter(line => line.startsWith('identityfile '))).toHaveLength(1)
    await visit()
    await at.sshd.changeHostKey()
    const again = run(program, ['-F', loose, '-o', 'BatchMode=yes', ...args, 'true'])
    await expect(again).rejects.toThrow(/IDENTIFICATION HAS CHANGED/)
  })

  test('adds the host key of a first connection to Berth’s known hosts', async () => {
    const [program = '', ...args] = await at.ssh.command(target({ proxy: at.sshd }), at.sshd)
    await run(program, [...batch, ...args, 'true'])
    expect(readFileSync(at.ssh.knownHosts.path, 'utf8')).toMatch(/^berth-a00000001-4711 ssh-ed25519 /m)
    await at.ssh.drop(account, 1) // rewrites the file
    const known = at.sshd.fingerprint()
    const offered = await at.sshd.changeHostKey()
    const problem = await problemOf(at.ssh.openShell(target({ proxy: at.sshd })))
    expect(problem.facts).toEqual({ known, offered })
    await at.ssh.drop(account, 4711)
    expect(readFileSync(at.ssh.knownHosts.path, 'utf8')).not.toMatch(/^berth-a00000001-4711 /m)
  })
})
