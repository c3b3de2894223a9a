import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { outputOf, runScript } from '#ssh/exec.ts'
import { openSftp } from '#ssh/files/sftp.ts'
import { readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { tmuxShells } from '#ssh/shell/tmux.ts'
import { problemOf } from '#test/berth/steps.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'
import { openSync, write } from './sync/place.ts'

const bounds = { clock: systemClock, within: 20_000, most: 1_000_000 }
/** Debian's own, which runs in the user's shell. */
const external = 'Subsystem sftp /usr/lib/openssh/sftp-server'

/** What people put into `~/.bashrc` without asking whether someone sits there. */
const greetings = {
  'one line': 'echo "Welcome to box 7"',
  '300 bytes': `echo "${'=-'.repeat(150)}"`,
  'three megabytes': 'head -c 3000000 /dev/zero | tr "\\0" "#"',
  'a path': 'echo "/etc/motd says: be nice"',
  'no line break': 'printf "Welcome to box 7"',
  'what ends like an answer of Berth’s': 'echo "berth-sync ok gnu 1700000000"; echo "ended 0 0 -"',
  'bytes that are no text': 'head -c 5000 /dev/urandom',
  'the command itself': 'echo "$BASH_EXECUTION_STRING"; set -v',
  'a farewell': 'trap "echo Goodbye" EXIT',
  'what stays running': 'sleep 100 &',
}

/** Longer or shorter ones tell nothing more of syncs and runs, whose scripts and files are asked for in the same ways. */
const alike = ['300 bytes', 'three megabytes', 'a path', 'no line break']

describe.skipIf(noSshd)(`a shell that greets with${noSshd}`, () => {
  test.each(Object.entries(greetings))('%s keeps its greeting to itself', async (about, bashrc) => {
    const { sshd, here, remote, up, down, connect } = await openSync([external])
    writeFileSync(join(sshd.home, '.bashrc'), `${bashrc}\n`)
    const { connection } = await connect()

    expect(await outputOf(connection, 'echo one; false', bounds)).toMatchObject({ text: 'one\n', code: 1 })
    expect(await runScript(connection, { name: 'two' }, ['printf %s "$name"'], bounds)).toMatchObject({
      text: 'two',
      code: 0,
    })
    expect(await tmuxShells(connection, systemClock)).toEqual([])

    const sftp = await openSftp(connection, systemClock)
    expect(await sftp.realPath('.')).toMatch(/^\//)
    sftp.end()
    if (alike.includes(about)) return

    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251))
    write(here, { 'a.bin': bytes, 'b/c.txt': 'text\n' })
    await up()
    expect(readFileSync(join(remote, 'a.bin')).equals(bytes)).toBe(true)
    write(remote, { 'd.bin': bytes })
    await down()
    expect(readFileSync(join(here, 'd.bin')).equals(bytes)).toBe(true)

    await startRun(connection, systemClock, 'xgreeted', {
      command: 'echo trained; exit 3',
      order: undefined,
      environment: {},
    })
    const ended = async () => {
      const status = await readRunStatus(connection, systemClock, 'xgreeted', 0)
      return { ...status, bytes: status.bytes.toString() }
    }
    await expect.poll(ended).toMatchObject({ state: 'ended', code: 3, bytes: 'trained\n' })
  })

  test('and never ends is not read for ever', async () => {
    const { sshd, connect } = await openPlace()
    writeFileSync(join(sshd.home, '.bashrc'), 'yes "Welcome to box 7"\n')
    const { connection } = await connect()
    expect(await problemOf(outputOf(connection, 'true', bounds))).toMatchObject({ code: 'shell_replaced' })
  })
})

/** What people hand their session over to, and the words that tell which it was. */
const takeovers = {
  'tmux, without a terminal': ['[ -z "$TMUX" ] && exec tmux new -A -s main', 'not a terminal'],
  'a shell that is not there': ['exec no-such-shell', 'no-such-shell'],
  'nothing, and says why': ['echo "Use the web terminal" >&2; exit 0', 'Use the web terminal'],
  'nothing, and says it as its answer': ['echo "Use the web terminal"; exit 1', 'Use the web terminal'],
  'another shell': ['exec bash --norc', ''],
  cat: ['exec cat', ''],
  python: ['exec python3', ''],
  'a question': ['read -p "Which env? " x; exec sleep 100', ''],
}

describe.skipIf(noSshd)(`a shell that hands its session over to${noSshd}`, () => {
  test.each(Object.entries(takeovers))(
    '%s is distinguished from an offline host',
    async (_about, [bashrc = '', words = '']) => {
      const { sshd, connect } = await openPlace([external])
      writeFileSync(join(sshd.home, '.bashrc'), `${bashrc}\n`)
      const { connection } = await connect()
      const clock = {
        ...systemClock,
        after: (milliseconds: number, act: () => void) => systemClock.after(milliseconds / 10, act),
      }
      const asked = { clock, within: 200_000, most: 1000 }
      for (const request of [
        () => outputOf(connection, 'true', asked),
        () => runScript(connection, { secret: 'hub-token' }, ['echo "$secret"'], asked),
        () => openSftp(connection, clock),
      ]) {
        const { code, message, advice } = await problemOf(request())
        expect({ code, advice }).toEqual({
          code: 'shell_replaced',
          advice: expect.stringContaining('~/.bashrc'),
        })
        expect(message).toContain(words)
        expect(message).not.toContain('hub-token')
      }
    },
  )
})
