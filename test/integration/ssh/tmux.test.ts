import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTmuxShell, type ShellWanted } from '#core/access/shells.ts'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import type { Shell } from '#ssh/shell/shell.ts'
import { tmuxShells } from '#ssh/shell/tmux.ts'
import { lacks } from '../../needs.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { sshd } from './own-root.ts'
import { type Sshd, startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

const lacking = lacks(sshd, 'tmux')

describe.skipIf(lacking)(`shells in tmux at a real OpenSSH server${lacking}`, () => {
  let sshd: Sshd
  let machine: ScratchMachine
  let ssh: Ssh
  let sockets: string

  beforeEach(async () => {
    sockets = mkdtempSync(join(tmpdir(), 'berth-tmux-'))
    sshd = await startSshd([`SetEnv TMUX_TMPDIR=${sockets}`])
    noted = []
    machine = scratchMachine()
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
  })
  afterEach(async () => {
    await ssh.close()
    await sshd.close()
    try {
      execFileSync('tmux', ['kill-server'], { env: { TMUX_TMPDIR: sockets }, stdio: 'ignore' })
    } catch {
      // No shell was left.
    }
    machine.remove()
    rmSync(sockets, { recursive: true, force: true, maxRetries: 20 })
  })

  const taken: Parameters<typeof openTmuxShell>[0]['taken'] = new Map()
  /** The names of Berth's own sessions, stored beyond a connection and a run of Berth. */
  let noted: string[] = []
  const ours = {
    names: async () => noted,
    async note(name: string) {
      noted = [...new Set([...noted, name])]
    },
    async forget(name: string) {
      noted = noted.filter(other => other !== name)
    },
  }
  async function open(wanted: Partial<ShellWanted> = {}) {
    const aim = target({ proxy: sshd })
    const lease = await ssh.connect(aim)
    try {
      return await openTmuxShell({
        clock: machine.clock,
        lease,
        open: command => ssh.openShell({ ...aim, command }),
        wanted: { columns: 80, rows: 24, ...wanted },
        taken,
        ours,
      })
    } finally {
      lease.release()
    }
  }
  function follow(shell: Shell): () => string {
    let text = ''
    shell.stream.on('data', piece => {
      text += String(piece)
    })
    return () => text
  }
  const sessions = async () => {
    const lease = await ssh.connect(target({ proxy: sshd }))
    try {
      return await tmuxShells(lease.connection, machine.clock)
    } finally {
      lease.release()
    }
  }

  /** Waits for both sessions: they are created only after their connection is open. */
  const bothAttached = () =>
    expect.poll(sessions).toEqual(['berth-1', 'berth-2'].map(name => ({ name, attached: true })))

  test('a shell survives a lost connection and is resumed with its history', async () => {
    const first = await open()
    expect(first.session).toBe('berth-1')
    expect(first.history).toBeUndefined()
    const said = follow(first.shell)
    first.shell.stream.write('for i in $(seq 60); do echo line-$i; done; X=kept; echo rea""dy\n')
    await expect.poll(said).toContain('ready')
    sshd.dropConnections()
    expect((await first.shell.ended)?.code).toBe('ssh_closed')
    await expect.poll(sessions).toEqual([{ name: 'berth-1', attached: false }])

    // The session is found on the instance, as after a restart of Berth.
    const again = await open()
    expect(again.session).toBe('berth-1')
    expect(again.history).toContain('line-1\n')
    const saidNow = follow(again.shell)
    again.shell.stream.write('echo value-$X\n')
    await expect.poll(saidNow).toContain('value-kept')
    again.shell.stream.write('exit\n')
    expect(await again.shell.ended).toBeUndefined()
    await expect.poll(sessions).toEqual([])
    await expect.poll(() => noted).toEqual([])
  })

  test.each([
    'set -g destroy-unattached on',
    'set -s exit-unattached on',
    'set -g default-command "exit 7"',
    'set -g detach-on-destroy off\nset -g lock-after-time 1',
    'set -g remain-on-exit on',
  ])('an image whose tmux.conf says %j has shells that last until they end', async settings => {
    writeFileSync(join(sshd.home, '.tmux.conf'), `${settings}\n`)
    const first = await open()
    const said = follow(first.shell)
    first.shell.stream.write('X=kept; echo rea""dy\n')
    await expect.poll(said).toContain('ready')
    sshd.dropConnections()
    await first.shell.ended
    await expect.poll(sessions).toEqual([{ name: 'berth-1', attached: false }])
    const again = await open()
    const saidNow = follow(again.shell)
    again.shell.stream.write('echo value-$X\n')
    await expect.poll(saidNow).toContain('value-kept')
    again.shell.stream.write('exit\n')
    expect(await again.shell.ended).toBeUndefined()
    await expect.poll(sessions).toEqual([])
  })

  test('a fresh shell gets its own session, and a session is resumed by its name', async () => {
    const one = await open()
    const two = await open({ fresh: true })
    expect([one.session, two.session]).toEqual(['berth-1', 'berth-2'])
    follow(one.shell)
    follow(two.shell)
    await bothAttached()
    sshd.dropConnections()
    await Promise.all([one.shell.ended, two.shell.ended])
    await expect.poll(async () => (await sessions())?.some(({ attached }) => attached)).toBe(false)
    const named = await open({ session: 'berth-2' })
    expect(named.session).toBe('berth-2')
    expect((await open()).session).toBe('berth-1')
    named.shell.close()
    await expect.poll(() => noted).toEqual(['berth-1'])
  })

  test('after a silent loss Berth resumes its own shell, and not a foreign one', async () => {
    const mine = await open()
    const others = await open({ fresh: true })
    follow(mine.shell)
    follow(others.shell)
    await bothAttached()
    sshd.freezeConnections()
    // The instance does not notice the loss. The second session now counts as foreign.
    mine.shell.close()
    await ours.forget('berth-2')
    await ssh.close()
    ssh = createSsh(machine)
    await expect.poll(() => taken.size).toBe(0)
    expect(await mine.shell.left).toBe(false)
    expect(noted).toEqual(['berth-1'])
    const again = await open()
    expect(again.session).toBe('berth-1')
    const said = follow(again.shell)
    again.shell.stream.write('echo here-$((6 * 7))\n')
    await expect.poll(said).toContain('here-42')
    expect((await open()).session).toBe('berth-3')
  })

  test('a start file that takes over every command leaves a plain shell for fixing it', async () => {
    const start = '[ -z "$TMUX" ] && exec tmux new -A -s main\n'
    for (const name of ['.bashrc', '.profile']) writeFileSync(join(sshd.home, name), start)
    const opened = await open()
    expect(opened).toEqual({ shell: opened.shell, others: [] })
    const said = follow(opened.shell)
    opened.shell.stream.write('echo here-$((6 * 7))-$TMUX\n')
    await expect.poll(said).toContain(`here-42-${sockets}`)
    expect(noted).toEqual([])
  })

  test.each([
    ['bash', '/bin/bash', 'mytrain', "Welcome|got=it's|two|read-not dumb|/own/first|"],
    // Its own start files set PATH again.
    [
      'another shell',
      '/bin/dash',
      'echo "got=$RENTED_WITH"',
      "Welcome|got=it's|two|read-not dumb|/own/first|",
    ],
  ])('%s sees the variables of the rental', async (_, SHELL, command, printed) => {
    const tools = join(machine.home, 'tools')
    mkdirSync(tools)
    writeFileSync(join(tools, 'mytrain'), '#!/bin/sh\necho "got=$RENTED_WITH"\n', { mode: 0o755 })
    await sshd.close()
    const first = { PATH: `${tools}:/usr/local/bin:/usr/bin:/bin`, RENTED_WITH: "it's\ntwo", TERM: 'dumb' }
    sshd = await startSshd([`SetEnv TMUX_TMPDIR=${sockets} SHELL=${SHELL}`], first)
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
    const profile = 'PATH=/own/first:$PATH; PROFILE=read; echo Welcome >> "$HOME/printed"\n'
    writeFileSync(join(sshd.home, '.profile'), profile)
    const { shell } = await open()
    const said = follow(shell)
    const lines = [
      `{ ${command}; [ "$TERM" = dumb ] || echo "$PROFILE-not dumb"; echo "$PATH" | cut -d: -f1; } >> "$HOME/printed"`,
      'echo en""d',
    ]
    shell.stream.write(`${lines.join('\n')}\n`)
    await expect.poll(said).toContain('end')
    expect(readFileSync(join(sshd.home, 'printed'), 'utf8').replaceAll('\n', '|')).toBe(printed)
    expect(said()).not.toMatch(/berth_|two/)
  })
})
