import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { environmentText, intoProject, writeEnvironment } from '#core/runs/remote.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { outputOf, runScript } from '#ssh/exec.ts'
import { openSftp } from '#ssh/files/sftp.ts'
import { readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { tmuxShells } from '#ssh/shell/tmux.ts'
import { syncDown } from '#ssh/sync/down.ts'
import { syncUp } from '#ssh/sync/up.ts'
import { problemOf } from '#test/berth/steps.ts'
import { projectRun } from '#test/unit/core/runs/stored-run.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'
import { openSync, write } from './sync/place.ts'

const bounds = { clock: systemClock, within: 20_000, most: 1_000_000 }
/** Debian's own, which runs in the user's shell. */
const external = 'Subsystem sftp /usr/lib/openssh/sftp-server'

/** What people put into `~/.bashrc` without asking whether someone sits there. */
const greetings = [
  'echo "Welcome to box 7"',
  `echo "${'=-'.repeat(150)}"`,
  'head -c 3000000 /dev/zero | tr "\\0" "#"',
  'echo "/etc/motd says: be nice"',
  'printf "Welcome to box 7"',
  'echo "berth-sync ok gnu 1700000000"; echo "ended 0 0 -"',
  'head -c 5000 /dev/urandom',
  'echo "$BASH_EXECUTION_STRING"; set -v',
  'trap "echo Goodbye" EXIT',
  'sleep 100 &',
]

/** What people set there, which the shells of their own commands would follow. */
const settings = [
  'set -eu',
  'set -o noclobber -o noglob -o pipefail -o allexport',
  'shopt -s nullglob dotglob extglob',
  'umask 077',
  'umask 000',
  'cd /',
  'export CDPATH=.:/tmp',
  'cd() { builtin cd "$@" && ls; }; export -f cd',
  'rm() { command rm -i "$@"; }; cp() { command cp -i "$@"; }; export -f rm cp',
  'printf() { builtin printf "[%s]" "$@"; }; export -f printf',
  'alias rm="rm -i" mv="mv -i" ls="ls --color=always" cat=bat; shopt -s expand_aliases',
  'export IFS=: POSIXLY_CORRECT=1 TMPDIR=/nonexistent TZ=Asia/Kathmandu',
  'export TAR_OPTIONS=--verbose GREP_COLORS="mt=01;31" BLOCK_SIZE=1M TIME_STYLE=full-iso',
  'export PATH=".:$HOME/odd bin:$PATH:"',
  'export HOME="$HOME/"',
  'exec 2> /dev/null',
]

/** All of them, each in one home of a few. */
const count = 4
const inAll = fc.shuffledSubarray([...greetings, ...settings], {
  minLength: greetings.length + settings.length,
})
const [shuffled = []] = fc.sample(inAll, { seed: 1, numRuns: 1 })
const homes = Array.from({ length: count }, (_, home) =>
  shuffled.filter((_, index) => index % count === home),
)

/** Prints what its place and environment are. */
const command = `umask; basename "$PWD"; echo "$A|$B"; ls | tr '\\n' ' '; set -- *.bin; echo "$#"
mkdir out && cat a.bin > out/d.bin && echo one > 'out/two words'; exit 3`
const printed = "p0000000000000001\nit's $x|two\nlines\na.bin b 1\n"

describe.skipIf(noSshd)(`a shell that greets with${noSshd}`, () => {
  test.each(homes)('and sets all sorts of things keeps them from a project, home %#', async (...bashrc) => {
    const { sshd, here, folder, connect } = await openSync([external])
    writeFileSync(join(sshd.home, '.bashrc'), `${bashrc.join('\n')}\n`)
    const { connection } = await connect()

    const { text: umask } = await outputOf(connection, 'umask', bounds)
    expect(await outputOf(connection, 'echo one; false', bounds)).toMatchObject({ text: 'one\n', code: 1 })
    expect(await runScript(connection, { name: 'two' }, ['printf %s "$name"'], bounds)).toMatchObject({
      text: 'two',
      code: 0,
    })
    expect(await tmuxShells(connection, systemClock)).toEqual([])

    const sftp = await openSftp(connection, systemClock)
    expect(await sftp.realPath('.')).toMatch(/^\//)
    sftp.end()

    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251))
    write(here, { 'a.bin': bytes, 'b/c.txt': 'text\n' })
    const run = projectRun()
    const remote = join(sshd.home, 'berth', run.project.id)
    const both = { folder, remote, clock: systemClock, signal: new AbortController().signal }
    await syncUp(connection, { ...both, confirmed: [], downloaded: new Map(), modes: true })
    expect(readFileSync(join(remote, 'a.bin')).equals(bytes)).toBe(true)

    const input = environmentText({ A: "it's $x", B: 'two\nlines' })
    expect(await outputOf(connection, writeEnvironment(run), { ...bounds, input })).toMatchObject({ code: 0 })
    const before = intoProject(run)
    await startRun(connection, systemClock, 'x1', { command, before, order: undefined, environment: {} })
    const ended = async () => {
      const status = await readRunStatus(connection, systemClock, 'x1', 0)
      return { ...status, bytes: status.bytes.toString() }
    }
    await expect.poll(ended).toMatchObject({ state: 'ended', code: 3, bytes: umask + printed })
    await syncDown(connection, { ...both, paths: ['out'], system: 'linux', from: 'x', synced: new Map() })
    expect(readFileSync(join(here, 'out/d.bin')).equals(bytes)).toBe(true)
    expect(readFileSync(join(here, 'out/two words'), 'utf8')).toBe('one\n')
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
      // What says something ends by itself, however busy this computer is; the rest is given up after a while.
      const faster = words === '' ? 10 : 1
      const clock = {
        ...systemClock,
        after: (milliseconds: number, act: () => void) => systemClock.after(milliseconds / faster, act),
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
