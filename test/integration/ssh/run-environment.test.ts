import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { intoProject } from '#core/runs/remote.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { projectRun } from '#test/unit/core/runs/stored-run.ts'
import { openScratch } from './machine.ts'
import { noSshd } from './own-root.ts'
import { startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

/**
 * What a run prints on a machine whose first process has this environment, and a program of the image in `tools`.
 * `rented`: the variables that Berth knows; with them the first process is the SSH server, which overwrites its own.
 */
async function printed(
  first: Readonly<Record<string, string>>,
  command: string,
  rented?: (tools: string) => Record<string, string>,
): Promise<string> {
  const { machine, ssh } = openScratch()
  const tools = join(machine.home, 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, 'mytrain'), '#!/bin/sh\necho "got=$RENTED_WITH"\n', { mode: 0o755 })
  const path = `${tools}:/usr/local/bin:/usr/bin:/bin`
  const sshd = await startSshd([], { PATH: path, ...first }, rented !== undefined)
  onTestFinished(() => sshd.close())
  sshd.authorize((await ssh.keysOf(account).load('berth')).publicKey)
  const { connection } = await ssh.connect(target({ direct: sshd }))
  await startRun(connection, systemClock, 'x1', {
    command,
    order: undefined,
    environment: rented?.(tools) ?? {},
  })
  const status = () => readRunStatus(connection, systemClock, 'x1', 0)
  await expect.poll(async () => (await status()).state).toBe('ended')
  return (await status()).bytes.toString()
}

describe.skipIf(noSshd)(`a run${noSshd}`, () => {
  test('finds the image’s programs, and sees the variables of the rental', async () => {
    expect(await printed({ RENTED_WITH: 'yes' }, 'mytrain')).toBe('got=yes\n')
  })

  test('of a project finds and sees the same, in its set-up and its command', async () => {
    const run = projectRun()
    const files = `cd && mkdir -p berth/${run.project.id} && echo "export OWN='of the project'" > berth/.${run.id}.env`
    const command = `(${files}) && ${intoProject(run)}mytrain; echo "$OWN"`
    expect(await printed({ RENTED_WITH: 'yes', CDPATH: '.' }, command)).toBe('got=yes\nof the project\n')
  })

  test('sees the variables that it was rented with where the SSH server is the first process', async () => {
    const rented = (tools: string) => ({
      PATH: `${tools}:/usr/bin:/bin`,
      RENTED_WITH: `it's "a" $b\n\`c\` \\`,
      HOME: '/nowhere',
    })
    const command = 'mytrain; basename "$HOME"; env | grep -c BERTH_RENTED_WITH || true'
    expect((await printed({ RENTED_WITH: 'overwritten' }, command, rented)).split('\n')).toEqual([
      `got=it's "a" $b`,
      '`c` \\',
      'home',
      '0',
      '',
    ])
  })

  test('sees values over several lines, and no variable in place of the session’s own', async () => {
    const first = {
      RENTED_WITH: 'a "b" $c\n`d`\n',
      HOME: '/nowhere',
      TERM: 'of-the-image',
      SSH_CLIENT: 'no',
      'A-B': 'no',
    }
    const command =
      'mytrain; basename "$HOME"; echo "<$TERM>"; env | grep -c "^A-B=" || true; echo "$SSH_CLIENT" | cut -d " " -f 1'
    const [one, two, three, ...rest] = (await printed(first, command)).split('\n')
    expect([one, two, three]).toEqual(['got=a "b" $c', '`d`', ''])
    expect(rest).toEqual(['home', '<dumb>', '0', '127.0.0.1', ''])
  })
})
