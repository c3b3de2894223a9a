import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { handOver } from '#ssh/runs/hand-over.ts'
import { sidePlace, takeOver } from '#ssh/runs/take-over.ts'
import { newKey } from '#test/new-key.ts'
import { openPlace, type Place, tree } from './files/place.ts'
import { randomFile } from './files/random-file.ts'
import { openLine } from './line.ts'
import { noSshd } from './own-root.ts'

/** Megabytes of results, and how many of them have changed, in files of ten. */
const [all, changed] = [
  Number(process.env['BERTH_HOURS_MB'] ?? 20),
  Number(process.env['BERTH_HOURS_CHANGED'] ?? 10),
]
const megabyte = 1024 ** 2
const isLong = process.env['BERTH_HOURS_MB'] !== undefined
/** Between each machine and this computer: 50 Mbit/s at a home. */
const shape = isLong ? { delay: 10, rate: 6250 } : undefined
/** Milliseconds, for 10 GB that are written, copied and hashed. */
const within = 60_000 + all * 300

/** Two machines, of which the second has the results as they were some time ago. */
async function openMachines() {
  const [old, next] = [await openPlace(), await openPlace()]
  const folders = [join(old.sshd.home, 'p/out'), join(next.sshd.home, 'p/out')] as const
  for (const folder of folders) mkdirSync(folder, { recursive: true })
  // On another disk.
  renameSync(folders[0], join(old.sshd.home, 'disk'))
  symlinkSync('../disk', folders[0])
  for (let part = 0; part < all / 10; part++)
    await randomFile(join(folders[0], `part-${part}`), 10 * megabyte)
  cpSync(`${folders[0]}/`, folders[1], { recursive: true, preserveTimestamps: true })
  for (let part = 0; part < changed / 10; part++)
    await randomFile(join(folders[0], `part-${part}`), 10 * megabyte)
  const lines = [await openLine(old.sshd, shape), await openLine(next.sshd, shape)] as const
  onTestFinished(() => {
    for (const line of lines) line.close()
  })
  const from = (await old.connect(lines[0])).connection
  const to = (await next.connect(lines[1])).connection
  const run = async (knows: string) => {
    const before = lines[0].bytes() + lines[1].bytes()
    const begun = performance.now()
    const ask = (input: string) => sh(next, input)
    const side = ask(sidePlace('.berth/left/7', 1)).trim()
    // A machine knows the next one by its own address.
    const known = { ...to, address: next.sshd, hostKey: { ...to.hostKey, line: knows || to.hostKey.line } }
    const handed = await handOver({
      from,
      to: known,
      clock: systemClock,
      folder: join(old.sshd.home, 'p'),
      paths: ['out'],
      target: 'p',
      side,
      signal: new AbortController().signal,
    })
    writeFileSync(join(side, 'alive/alive'), String(Math.ceil(Date.now() / 1000)))
    ask(await takeOver('.berth/left/7', 'p', ['out'], { whole: true, differ: true }))
    const seconds = (performance.now() - begun) / 1000
    return { ...handed, seconds, megabytes: (lines[0].bytes() + lines[1].bytes() - before) / megabyte }
  }
  return { folders, lines, run, old, next }
}

function show(way: string, { seconds, megabytes }: { seconds: number; megabytes: number }): void {
  if (isLong)
    console.log(
      `${all} MB, ${changed} changed, ${way}: ${seconds.toFixed(1)} s, ${megabytes.toFixed(2)} MB through this computer`,
    )
}

function sh({ sshd }: Place, input: string): string {
  return execFileSync('sh', ['-s'], { input, env: { ...process.env, HOME: sshd.home }, encoding: 'utf8' })
}

describe.skipIf(noSshd)(`results that are handed over${noSshd}`, () => {
  test.each([
    ['from machine to machine', true, ''],
    // Another machine answers there.
    ['through this computer where the machine finds another one', false, `ssh-ed25519 ${'A'.repeat(68)}`],
  ])(
    'go %s, and only what differs',
    async (_, isDirect, knows) => {
      const { folders, run } = await openMachines()
      const done = await run(knows)
      expect(done).toMatchObject({ files: changed / 10, isDirect })
      expect(tree(folders[1])).toEqual(tree(folders[0]))
      if (isDirect) expect(done.megabytes).toBeLessThan(1)
      else expect(done.megabytes).toBeGreaterThan(2 * changed)
      show(isDirect ? 'from machine to machine' : 'through this computer', done)
    },
    within,
  )

  test('have what their links lead to elsewhere, which goes where such links of the next machine lead, and their holes', async () => {
    const { folders, run, old, next } = await openMachines()
    const [from, to] = [old.sshd.home, next.sshd.home]
    for (const folder of [join(from, 'store/ckpts/step-9'), join(to, 'other')])
      mkdirSync(folder, { recursive: true })
    writeFileSync(join(from, 'store/ckpts/step-9/model'), 'step 9')
    symlinkSync('step-9', join(from, 'store/ckpts/latest'))
    writeFileSync(join(from, 'store/last.pt'), 'last')
    symlinkSync(join(from, 'store/ckpts'), join(folders[0], 'ckpts'))
    symlinkSync(join(from, 'store/last.pt'), join(folders[0], 'last.pt'))
    symlinkSync('part-0', join(folders[0], 'latest'))
    symlinkSync(join(to, 'other'), join(folders[1], 'ckpts'))
    symlinkSync(join(to, 'none'), join(folders[1], 'last.pt'))
    symlinkSync('nowhere', join(folders[1], 'latest'))
    // A megabyte, and a hole of 199.
    const sparse = (folder: string) => join(folder, 'memmap')
    writeFileSync(sparse(folders[0]), Buffer.alloc(megabyte, 1))
    truncateSync(sparse(folders[0]), 200 * megabyte)
    expect(await run('')).toMatchObject({ isDirect: true })
    const { size, blocks } = statSync(sparse(folders[1]))
    expect([size, blocks * 512 < 10 * megabyte]).toEqual([200 * megabyte, true])
    expect(readFileSync(join(to, 'other/step-9/model'), 'utf8')).toBe('step 9')
    expect(readFileSync(join(to, 'none'), 'utf8')).toBe('last')
    const links = ['latest', 'ckpts', 'ckpts/latest'].map(name => readlinkSync(join(folders[1], name)))
    expect(links).toEqual(['part-0', join(to, 'other'), 'step-9'])
  })

  test.runIf(isLong)(
    'take so long with rsync through this computer, which has them as the next machine',
    async () => {
      const { folders, lines, old, next } = await openMachines()
      const mirror = join(old.here, 'out')
      cpSync(folders[1], mirror, { recursive: true, preserveTimestamps: true })
      const key = newKey()
      writeFileSync(join(old.here, 'key'), key.private, { mode: 0o600 })
      for (const { sshd } of [old, next]) {
        mkdirSync(join(sshd.home, '.ssh'), { recursive: true })
        writeFileSync(join(sshd.home, '.ssh/authorized_keys'), `${key.public}\n`)
      }
      const rsync = async (from: string, to: string, port: number) => {
        const shell = `ssh -p ${port} -i ${join(old.here, 'key')} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null`
        await promisify(execFile)('rsync', ['-a', '-e', shell, `${from}/`, to])
      }
      const before = lines[0].bytes() + lines[1].bytes()
      const begun = performance.now()
      await rsync(`root@${lines[0].host}:${folders[0]}`, mirror, lines[0].port)
      await rsync(mirror, `root@${lines[1].host}:${folders[1]}`, lines[1].port)
      const seconds = (performance.now() - begun) / 1000
      expect(tree(folders[1])).toEqual(tree(folders[0]))
      show('rsync', { seconds, megabytes: (lines[0].bytes() + lines[1].bytes() - before) / megabyte })
    },
    within,
  )
})
