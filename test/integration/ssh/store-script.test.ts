import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { at } from '#build/places.ts'

const script = ['links.sh', 'whole.sh', 'store.sh']
  .map(name => readFileSync(at(`electron/ssh/runs/${name}`), 'utf8'))
  .join('\n')

/** The folder of a run with a store, where restic is this script. */
function place(restic: string) {
  const home = mkdtempSync(join(tmpdir(), 'berth-store-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const here = join(home, '.berth/runs/one')
  const programs = join(home, 'programs')
  for (const folder of [here, programs, join(home, 'p/out')]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(here, 'store'), '0\none\nrest:https://nas.example/\np\nout\n')
  writeFileSync(join(programs, 'restic'), `#!/bin/sh\n${restic}\n`, { mode: 0o755 })
  // It pauses for minutes between its attempts.
  writeFileSync(join(programs, 'sleep'), '#!/bin/sh\nexec /bin/sleep 0.05\n', { mode: 0o755 })
  writeFileSync(join(here, 'store.sh'), script)
  const env = { ...process.env, HOME: home, PATH: `${programs}:${process.env['PATH']}` }
  return { home, here, env }
}

/** What a run prints that is to begin with its last snapshot, and its exit code. */
function restoredAt({ here, env }: Pick<ReturnType<typeof place>, 'here' | 'env'>) {
  const { status, stdout } = spawnSync('sh', [join(here, 'store.sh'), here, 'restore'], {
    env,
    encoding: 'utf8',
  })
  return { code: status, output: stdout }
}

/** The same where restic fails with a message and a code. */
function restored(message: string, code = 1) {
  const { here, env } = place(`cat >&2 <<'END'\n${message}\nEND\nexit ${code}`)
  writeFileSync(join(here, 'store.restores'), 'yes')
  return restoredAt({ here, env })
}

const asked = '\nIs there a repository at the following location?\nrest:https://me:***@nas.example/'

test('a run whose store says that it is empty begins without a snapshot', () => {
  const begun = { code: 0, output: 'Berth: the store has no snapshot of this run.\n' }
  for (const why of [
    '<config/> does not exist',
    'Stat: The specified key does not exist.',
    'Stat: The specified bucket does not exist',
    'Lstat: file does not exist',
  ])
    expect(restored(`Fatal: unable to open config file: ${why}${asked}`), why).toEqual(begun)
  // As newer ones say it.
  expect(restored(`Fatal: repository does not exist: unable to open config file${asked}`, 10)).toEqual(begun)
})

test('a run whose store only can’t be read does not begin anew', () => {
  for (const why of [
    'unexpected HTTP response (401): 401 Unauthorized',
    'unexpected HTTP response (503): 503 Service Unavailable',
    'negative content length',
    'Stat: The AWS Access Key Id you provided does not exist in our records.',
    'Stat: <html>hi',
    'client.Head: Head "https://nas.example/config": x509: certificate signed by unknown authority',
    'client.Head: Head "https://nas.example/config": dial tcp: lookup nas.example: no such host',
  ])
    expect(restored(`Fatal: unable to open config file: ${why}${asked}`), why).toEqual({
      code: 1,
      output: [
        `Berth: waits for the store, for three minutes at most: unable to open config file: ${why}`,
        `Berth: the last snapshot can't be had: unable to open config file: ${why}\n`,
      ].join('\n'),
    })
  expect(restored('Fatal: wrong password or no key found')).toMatchObject({ code: 1 })
})

test('a run that could not have its snapshot gets it when it begins again on the same machine, and once', () => {
  const { home, here, env } = place(`[ -e "$HOME/up" ] || { echo 'Fatal: no route to host' >&2; exit 1; }
case "$*" in
  *snapshots*) echo '[{"time":"2026-01-02T03:04:05Z","tags":["one-whole"],"short_id":"ab12"}]' ;;
  *restore*) echo restored >> "$HOME/calls" ;;
esac`)
  expect(restoredAt({ here, env })).toEqual({ code: 0, output: '' })
  writeFileSync(join(here, 'store.restores'), 'yes')
  expect(restoredAt({ here, env })).toMatchObject({ code: 1 })
  // A start on the same machine usually restores nothing, since what lies there is newer.
  writeFileSync(join(here, 'store.restores'), '')
  writeFileSync(join(home, 'up'), '')
  expect(restoredAt({ here, env }).output).toContain('continues from the snapshot of 2026-01-02')
  expect(restoredAt({ here, env })).toEqual({ code: 0, output: '' })
  expect(readFileSync(join(home, 'calls'), 'utf8')).toBe('restored\n')
})

test.each([0, 20, 60])('a store is waited for three minutes, where each answer takes %s s', seconds => {
  const { home, here, env } = place(
    `sleep ${seconds}; echo 'Fatal: unable to open repository: ssh exited' >&2; exit 1`,
  )
  // The seconds that have passed.
  writeFileSync(join(home, 'clock'), '0')
  const clock = '"$HOME/clock"'
  for (const [name, lines] of [
    ['sleep', `echo $(($(cat ${clock}) + $1)) > ${clock}`],
    ['date', `cat ${clock}`],
  ])
    writeFileSync(join(home, 'programs', `${name}`), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  writeFileSync(join(here, 'store.restores'), 'yes')
  expect(restoredAt({ here, env })).toMatchObject({ code: 1 })
  const waited = Number(readFileSync(join(home, 'clock'), 'utf8'))
  expect(waited).toBeGreaterThanOrEqual(150)
  expect(waited).toBeLessThanOrEqual(210)
})

test('a store that takes nothing back is asked for that once, and gets the next snapshots, though others are being saved', async () => {
  const { home, here, env } = place(`echo "$*" >> "$HOME/calls"
case "$*" in
  *'backup --json'*) echo '{"snapshot_id":"ab12"}' ;;
  *forget*) echo 'Remove(<snapshot/8c29ec0009>) returned error: server response: 403 Forbidden (403)' >&2; exit 1 ;;
esac`)
  writeFileSync(join(home, 'p/out/ckpt'), 'x')
  const saving = setInterval(() => writeFileSync(join(home, 'p/out/ckpt.tmp'), 'x'), 50)
  onTestFinished(() => clearInterval(saving))
  const storing = spawn('sh', [join(here, 'store.sh'), here, 'loop'], { env, stdio: 'ignore' })
  const calls = (what: string) =>
    existsSync(join(home, 'calls')) ? readFileSync(join(home, 'calls'), 'utf8').split(what).length - 1 : 0
  await expect.poll(() => calls('backup --json'), { timeout: 60_000 }).toBeGreaterThan(25)
  writeFileSync(join(here, 'over'), '')
  await once(storing, 'exit')
  expect(calls('forget')).toBe(1)
  expect(readFileSync(join(here, 'stored'), 'utf8')).toMatch(/^ok [1-9]/)
})

test('a checkpoint of which a part may still come is stored after a minute without one', async () => {
  const { home, here, env } = place(`echo "$*" >> "$HOME/calls"; echo '{"snapshot_id":"ab12"}'`)
  const put = (path: string, age: number) => {
    const file = join(home, 'p/out', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, path)
    const at = Date.now() / 1000 - age
    for (const one of [file, dirname(file)]) utimesSync(one, at, at)
  }
  for (const part of ['a', 'b']) put(`step-1/${part}`, 300)
  const stored = () => (existsSync(join(here, 'stored')) ? readFileSync(join(here, 'stored'), 'utf8') : '')
  put('step-2/a', 50)
  const written = Date.now() - 50_000
  const storing = spawn('sh', [join(here, 'store.sh'), here, 'loop'], { env, stdio: 'ignore' })
  await expect.poll(stored, { timeout: 60_000 }).toMatch(/^ok/)
  expect(Date.now() - written).toBeGreaterThanOrEqual(60_000)
  writeFileSync(join(here, 'over'), '')
  await once(storing, 'exit')
})

test('a checkpoint is stored once what came last of the one before has come, and no program has it open', async () => {
  const { home, here, env } = place(`case "$*" in
  *'backup --json'*) cat out/* | tr '\\n' ' ' >> "$HOME/calls"; echo >> "$HOME/calls"; echo '{"snapshot_id":"ab12"}' ;;
esac`)
  const out = join(home, 'p/out')
  const stored = () =>
    existsSync(join(home, 'calls'))
      ? new Set(readFileSync(join(home, 'calls'), 'utf8').split('\n').filter(Boolean))
      : new Set()
  writeFileSync(join(out, 'model'), 'model 1\n')
  writeFileSync(join(out, 'step'), 'step 1\n')
  const storing = spawn('sh', [join(here, 'store.sh'), here, 'loop'], { env, stdio: 'ignore' })
  await expect.poll(stored, { timeout: 30_000 }).toEqual(new Set(['model 1 step 1 ']))
  writeFileSync(join(out, 'model'), 'model 2\n')
  await wait(7000)
  const step = openSync(join(out, 'step'), 'w')
  writeSync(step, 'st')
  await wait(7000)
  writeSync(step, 'ep 2\n')
  closeSync(step)
  await expect.poll(() => stored().size, { timeout: 30_000 }).toBe(2)
  expect([...stored()]).toEqual(['model 1 step 1 ', 'model 2 step 2 '])
  writeFileSync(join(here, 'over'), '')
  await once(storing, 'exit')
})

test('a store that is there and can’t be read says why', async () => {
  const { home, here, env } = place(`case "$*" in
  *init*) echo 'Fatal: create repository at rest:https://nas.example/ failed: config file already exists' >&2 ;;
  *) echo 'Fatal: wrong password or no key found' >&2 ;;
esac
exit 1`)
  writeFileSync(join(home, 'p/out/ckpt'), 'x')
  const storing = spawn('sh', [join(here, 'store.sh'), here, 'loop'], { env, stdio: 'ignore' })
  const stored = () => (existsSync(join(here, 'stored')) ? readFileSync(join(here, 'stored'), 'utf8') : '')
  await expect.poll(stored, { timeout: 60_000 }).toMatch(/^failed /)
  writeFileSync(join(here, 'over'), '')
  await once(storing, 'exit')
  expect(stored()).toBe('failed 0 wrong password or no key found\n')
})

test('a store that refuses to be written to says in which way', () => {
  const tried = 'Save(<lock/8c29ec0009>) returned error, retrying after 552.330144ms:'
  const asked = `sed -n '/^# An SFTP server says/,/^}/p' "$here/store.sh" > "$here/why.sh"; . "$here/why.sh"; why`
  for (const [why, told] of [
    [
      'OpenFile: sftp: "Failure" (SSH_FX_FAILURE)',
      'its server makes no new files: the disk there may be read-only, or full',
    ],
    [
      'Write: sftp: "Failure" (SSH_FX_FAILURE)',
      'its server refuses to write: the disk or a quota there may be full',
    ],
    ['open /b/locks/8c: read-only file system', 'open /b/locks/8c: read-only file system'],
    ['Sftp: permission denied', 'Sftp: permission denied'],
  ] as const) {
    const { here, env } = place('')
    const last = why.split(': ').slice(1).join(': ')
    writeFileSync(
      join(here, 'store.log'),
      `${tried} ${why}\n${last}\nruntime.goexit\n\tasm.s:1\nunable to create lock in backend\n`,
    )
    const { stdout } = spawnSync('sh', ['-c', asked], { env: { ...env, here }, encoding: 'utf8' })
    expect(stdout, why).toBe(`${told}\n`)
  }
})
