import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isInstalled } from '#build/system-parts.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { systemPrograms } from '#platform/programs.ts'
import { lendRestic } from '#ssh/runs/lend-restic.ts'
import { readRunStatus, type StopNotice, type StoreOrder, startRun, tellOfStop } from '#ssh/runs/runs.ts'
import { newKey } from '#test/new-key.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'
import { startSshd } from './sshd.ts'

const reason = noSshd || (isInstalled('restic') ? '' : ' (needs restic)')

/** The system's programs as links in a folder, but for restic and what could install it. */
function withoutRestic(): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-bare-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const from of ['/usr/local/bin', '/usr/bin'])
    for (const name of readdirSync(from))
      if (!/^(?:restic|apt-get|apk|dnf)$/.test(name) && !existsSync(join(folder, name)))
        symlinkSync(join(from, name), join(folder, name))
  return folder
}

/** A machine with a project’s folder, and a store on another server. */
async function openStore(path = process.env['PATH']) {
  const store = await startSshd()
  onTestFinished(() => store.close())
  const { private: privateKey, public: publicKey } = newKey()
  store.authorize(publicKey)
  const programs = mkdtempSync(join(tmpdir(), 'berth-restic-'))
  onTestFinished(() => rmSync(programs, { recursive: true }))
  const { sshd, connect } = await openPlace([`SetEnv PATH=${programs}:${path}`])
  const { connection } = await connect()
  const folder = join(sshd.home, 'p')
  mkdirSync(join(folder, 'out'), { recursive: true })
  const start = (id: string, command: string, order: Partial<StoreOrder> = {}, notice?: StopNotice) =>
    startRun(connection, systemClock, id, {
      command,
      notice,
      before: 'cd ~/p || exit 1\n',
      store: {
        every: 2,
        run: 'one',
        repository: `sftp://root@${store.host}:${store.port}/${store.folder}/backups`,
        folder: 'p',
        paths: ['out'],
        password: 'a password',
        key: privateKey,
        hostKey: hostKeyIn(join(store.folder, 'host_key.pub')),
        restores: false,
        ...order,
      },
      order: undefined,
      environment: {},
    })
  const status = (id: string) => readRunStatus(connection, systemClock, id, 0)
  const here = (id: string) => join(sshd.home, '.berth/runs', id)
  const stored = async (id: string) => (await status(id)).stored
  const tell = (id: string) => tellOfStop(connection, systemClock, id)
  /** Lets storing take so many seconds. */
  function slow(seconds: number): void {
    const waits = `case "$*" in *'backup --json'*) sleep ${seconds} ;; esac`
    writeFileSync(join(programs, 'restic'), `#!/bin/sh\n${waits}\nPATH=\${PATH#*:} exec restic "$@"\n`, {
      mode: 0o755,
    })
  }
  /** Lets the store be full, as it looks to restic over SFTP after ten tries; or no longer. */
  function fill(isFull: boolean): void {
    const full = `case "$*" in *backup*) echo 'Fatal: unable to save snapshot: Write: sftp: "Failure" (SSH_FX_FAILURE)' >&2; exit 1 ;; esac`
    const rest = `PATH=\${PATH#*:}; exec restic "$@"`
    writeFileSync(join(programs, 'restic'), `#!/bin/sh\n${isFull ? full : ''}\n${rest}\n`, { mode: 0o755 })
  }
  /** Lets the machine's clock be so many seconds ahead. */
  function shiftClock(seconds: number): void {
    const shifted = `if [ "$*" = +%s ]; then echo $(($(/bin/date +%s) + ${seconds})); else exec /bin/date "$@"; fi`
    writeFileSync(join(programs, 'date'), `#!/bin/sh\n${shifted}\n`, { mode: 0o755 })
  }
  return { connection, sshd, store, folder, start, status, stored, here, tell, fill, slow, shiftClock }
}

const hostKeyIn = (file: string) => readFileSync(file, 'utf8').split(' ').slice(0, 2).join(' ')

/** A lock as of a program that was killed while it removed snapshots. */
async function leaveLock(repository: string): Promise<void> {
  const env = { ...process.env, RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: 'a password' }
  const isLocked = () => readdirSync(join(repository, 'locks')).some(name => !name.includes('tmp'))
  for (let tries = 0; tries < 20 && !isLocked(); tries++) {
    const pruning = spawn('restic', ['prune'], { env, stdio: 'ignore' })
    const isOver = () => /\) Z /.test(readFileSync(`/proc/${pruning.pid}/stat`, 'latin1'))
    // Without a pause, or it would be missed.
    while (!isLocked() && !isOver());
    pruning.kill('SIGKILL')
    await once(pruning, 'exit')
  }
}

describe.skipIf(reason)(`results that a machine stores by itself${reason}`, () => {
  test('come back on another machine, of two runs in one store each its own, and no key stays', async () => {
    const { folder, start, status, stored, here, tell } = await openStore()
    // On another disk.
    renameSync(join(folder, 'out'), join(folder, '../disk'))
    symlinkSync('../disk', join(folder, 'out'))
    writeFileSync(join(folder, 'out/ckpt'), 'of one')
    mkdirSync(join(folder, '../elsewhere'))
    writeFileSync(join(folder, '../elsewhere/last'), ', linked')
    symlinkSync(join(folder, '../elsewhere'), join(folder, 'out/more'))
    // The next snapshot would be in an hour, but for the last one before a stop.
    const notice = { signal: 'USR1' as const, run: 'printf %s ", at its end" >> out/ckpt', seconds: 120 }
    await start('a', 'until [ -e enough ]; do sleep 0.2; done', { every: 3600 }, notice)
    await expect
      .poll(() => stored('a'), { timeout: 60_000 })
      .toMatchObject({ secondsAgo: expect.any(Number) })
    await expect.poll(() => tell('a'), { timeout: 60_000 }).toBe(true)
    writeFileSync(join(folder, 'enough'), '')
    await expect.poll(() => status('a'), { timeout: 20_000 }).toMatchObject({ state: 'ended', code: 143 })
    expect(readdirSync(here('a')).filter(name => /\.(pass|key|env)$/.test(name))).toEqual([])

    rmSync(join(folder, 'out'), { recursive: true })
    await start('b', 'cat out/ckpt', { run: 'two', restores: true })
    await expect.poll(() => status('b'), { timeout: 30_000 }).toMatchObject({ state: 'ended', code: 1 })
    rmSync(join(folder, '../elsewhere'), { recursive: true })
    await start('c', 'cat out/ckpt out/more/last', { restores: true })
    await expect.poll(() => status('c'), { timeout: 30_000 }).toMatchObject({ state: 'ended', code: 0 })
    expect((await status('c')).bytes.toString()).toMatch(
      /^Berth: continues from the snapshot of .* min ago\.\nof one, at its end, linked$/,
    )
  })

  test('are those of the last machine, though the clock of the one before is an hour ahead', async () => {
    const { sshd, folder, start, status, stored, shiftClock } = await openStore()
    const job = (text: string) =>
      `mkdir -p out && echo ${text} >> out/ckpt && until [ -e ${text} ]; do sleep 0.2; done`
    /** Lets it store what it has, and end. */
    async function run(id: string, text: string): Promise<void> {
      await start(id, job(text), { every: 3600, restores: true })
      await expect
        .poll(() => stored(id), { timeout: 60_000 })
        .toMatchObject({ secondsAgo: expect.any(Number) })
      writeFileSync(join(folder, text), '')
      await expect.poll(() => status(id), { timeout: 20_000 }).toMatchObject({ state: 'ended' })
      // Another machine has neither.
      rmSync(join(folder, 'out'), { recursive: true })
      rmSync(join(sshd.home, '.berth/newest.one'))
    }
    shiftClock(3600)
    await run('a', 'ahead')
    shiftClock(0)
    await run('b', 'right')
    await start('c', 'cat out/ckpt', { restores: true })
    await expect.poll(() => status('c'), { timeout: 30_000 }).toMatchObject({ state: 'ended', code: 0 })
    expect((await status('c')).bytes.toString()).toMatch(/\nahead\nright\n$/)
  })

  test('need no restic in the image where this computer has one for it', async () => {
    const { connection, folder, start, stored } = await openStore(withoutRestic())
    writeFileSync(join(folder, 'out/ckpt'), 'of one')
    await start('a', 'sleep 100')
    await expect
      .poll(() => stored('a'), { timeout: 60_000 })
      .toMatchObject({ failure: expect.stringContaining('restic is not on the machine') })
    const { find } = systemPrograms(process.env, 'linux')
    // A script can't run there.
    await lendRestic(connection, systemClock, { find: () => find('ldd') })
    expect(existsSync(join(folder, '../.berth/bin/restic'))).toBe(false)
    await lendRestic(connection, systemClock, { find })
    await expect
      .poll(() => stored('a'), { timeout: 60_000 })
      .toMatchObject({ secondsAgo: expect.any(Number) })
  })

  test('never count while they are being written: both files of a checkpoint are of one step', async () => {
    const { folder, start, status, here } = await openStore()
    // Each step is written in place, in two files; the second one never ends.
    const job = `write() { for part in a b; do : > out/$part; for line in 1 2 3 4 5; do echo $1 >> out/$part; sleep 0.1; done; done; }
write whole
until grep -q ok ~/.berth/runs/a/stored; do sleep 0.1; done
until [ -e enough ]; do write torn; done`
    await start('a', job)
    const told = () =>
      existsSync(join(here('a'), 'stored')) ? readFileSync(join(here('a'), 'stored'), 'utf8') : ''
    // A round that has met the second step.
    await expect.poll(told, { timeout: 100_000 }).toMatch(/^waits [1-9]/)
    writeFileSync(join(folder, 'enough'), '')
    await expect.poll(() => status('a'), { timeout: 20_000 }).toMatchObject({ state: 'ended' })
    rmSync(join(folder, 'out'), { recursive: true })
    await start('b', 'cat out/a out/b | sort | uniq -c | wc -l; head -n 1 out/a', { restores: true })
    await expect.poll(() => status('b'), { timeout: 30_000 }).toMatchObject({ state: 'ended', code: 0 })
    const [, kinds, step] = (await status('b')).bytes.toString().split('\n')
    expect([kinds?.trim(), step]).toEqual(['1', 'whole'])
  })

  test('are stored though they change more often than that takes, and not before there are any', async () => {
    const { folder, start, status, stored, slow } = await openStore()
    slow(9)
    const job = `until [ -e enough ]; do echo $((n += 1)) > out/new; sleep 0.2; cp out/new out/one; mv out/new out/other; sleep 7; done`
    await start('a', `sleep 4; ${job}`, { every: 30 })
    // It would be the reason why nothing is stored.
    const failures: unknown[] = []
    const isStored = async () => {
      const { secondsAgo, failure } = (await stored('a')) ?? {}
      if (failure !== undefined) failures.push(failure)
      return secondsAgo !== undefined
    }
    await expect.poll(isStored, { timeout: 80_000 }).toBe(true)
    expect(failures).toEqual([])
    writeFileSync(join(folder, 'enough'), '')
    await expect.poll(() => status('a'), { timeout: 20_000 }).toMatchObject({ state: 'ended', code: 0 })
    rmSync(join(folder, 'out'), { recursive: true })
    await start('b', 'cmp out/one out/other', { restores: true })
    await expect.poll(() => status('b'), { timeout: 30_000 }).toMatchObject({ state: 'ended', code: 0 })
  })

  test('that can’t be stored stop no command, and say why; a store that comes back gets them', async () => {
    const { store, folder, start, status, stored, here, fill } = await openStore()
    writeFileSync(join(folder, 'out/ckpt'), 'x')
    await store.stop()
    await start('a', 'until [ -e enough ]; do sleep 0.2; done')
    await expect
      .poll(() => stored('a'), { timeout: 60_000 })
      .toEqual({ failure: expect.stringContaining('Connection refused') })
    expect((await status('a')).state).toBe('running')
    // What fails is tried again long before the next interval.
    await start('d', 'until [ -e enough ]; do sleep 0.2; done', { every: 600 })
    await expect.poll(() => stored('d'), { timeout: 60_000 }).toEqual({ failure: expect.any(String) })
    await store.start()
    await expect.poll(() => stored('d'), { timeout: 60_000 }).toEqual({ secondsAgo: expect.any(Number) })
    await expect.poll(() => stored('a'), { timeout: 60_000 }).toEqual({ secondsAgo: expect.any(Number) })
    fill(true)
    await expect
      .poll(() => stored('a'), { timeout: 60_000 })
      .toEqual({
        secondsAgo: expect.any(Number),
        failure: expect.stringContaining('the disk or a quota there may be full'),
      })
    expect((await status('a')).state).toBe('running')
    fill(false)
    await expect.poll(() => stored('a'), { timeout: 60_000 }).toEqual({ secondsAgo: expect.any(Number) })
    // A machine that died while it removed old snapshots hinders neither.
    await leaveLock(join(store.folder, 'backups'))
    await start('c', 'cat out/ckpt; until [ -e enough ]; do sleep 0.2; done', { restores: true, every: 3600 })
    await expect.poll(() => stored('c'), { timeout: 60_000 }).toEqual({ secondsAgo: expect.any(Number) })
    expect(readFileSync(join(here('c'), 'output'), 'utf8')).toMatch(/continues from the snapshot .*\nx$/)
    // Another server in its place gets nothing.
    await start('b', 'until [ -e enough ]; do sleep 0.2; done', {
      hostKey: newKey().public.split(' ').slice(0, 2).join(' '),
    })
    await expect
      .poll(() => stored('b'), { timeout: 60_000 })
      .toEqual({ failure: expect.stringContaining('Host key verification failed') })
    writeFileSync(join(folder, 'enough'), '')
    await expect.poll(() => status('a'), { timeout: 20_000 }).toMatchObject({ state: 'ended', code: 0 })
  })
})
