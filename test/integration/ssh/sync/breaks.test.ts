import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { describe, expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { stagingName, wholeName } from '#ssh/sync/scan.ts'
import { openScript, type ScriptStream } from '#ssh/sync/script-stream.ts'
import { takeScript } from '#ssh/sync/scripts.ts'
import { noSshd } from '../own-root.ts'
import { cuttingWay, seeded } from './cutting.ts'
import { openSync, write } from './place.ts'

/** Bytes of a handshake, and of a full sync. */
const handshake = 4500
const everything = 900_000
const cuts = 12

/** Forty files in a few folders, with content by round. */
function files(round: string): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `${at % 3 === 0 ? 'a' : at % 3 === 1 ? 'b/c' : `d${at % 4}`}/file ${at}`,
      `${round} ${at} `.repeat(1 + ((at * 137) % 3500)),
    ]),
  )
}

function content(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

async function archive(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const made = pack()
  for (const [name, text] of Object.entries(files)) made.entry({ name }, text)
  made.finalize()
  return buffer(made)
}

async function answer({ output, ended }: ScriptStream): Promise<string> {
  const said = text(output)
  await ended
  return said
}

/** `done`, or the code of the failure. */
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    error => error.problem?.code ?? String(error),
  )

describe.skipIf(noSshd)(`an interrupted sync${noSshd}`, () => {
  test('leaves each remote file old or new, and the next sync completes it', async () => {
    const { sshd, here, remote, up, connect } = await openSync()
    const chance = seeded(16)
    let broken = 0
    let before: Record<string, string | undefined> = {}
    for (let round = 1; round <= cuts; round++) {
      const now = files(`round ${round}`)
      write(here, now, 1_700_000_000 + round)
      const others = sshd.connections()
      const way = await cuttingWay(sshd.port, handshake + chance() * everything)
      const lease = await connect(way).catch(() => undefined)
      const isBroken = lease && (await outcome(up({}, lease.connection))) !== 'done'
      if (isBroken) broken++
      for (const path of Object.keys(now))
        expect([before[path], now[path]], path).toContain(content(join(remote, path)))
      // At every other break the interrupted sync may still be moving files into place, and is waited for by seconds.
      if (isBroken && broken % 2 === 0) await expect.poll(sshd.connections).toBeLessThanOrEqual(others)
      await expect.poll(() => outcome(up())).toBe('done')
      for (const path of Object.keys(now)) expect(content(join(remote, path)), path).toBe(now[path])
      expect(readdirSync(remote)).not.toContain('.berth-sync')
      before = now
    }
    expect(broken).toBeGreaterThan(cuts / 3)
  })

  test('is waited for while its remote process still runs', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'a.txt': 'a' })
    const atIt = spawn('sleep', ['1'])
    write(remote, { '.berth-sync.pid': `${atIt.pid}\n` })
    expect(await up()).toMatchObject({ files: 1 })
    expect(atIt.exitCode).toBe(0)
    expect(readdirSync(remote)).toEqual(['a.txt'])
  })

  test('is not waited for once its remote process has ended, though its parent never asks after it', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'a.txt': 'a' })
    // Two scripts would each wait 5 seconds.
    const parent = spawn('sh', ['-c', 'sleep 9 >&- & echo $!; exec sleep 9 >&-'])
    const pid = await text(parent.stdout)
    process.kill(Number(pid))
    await expect.poll(() => content(`/proc/${pid.trim()}/stat`)).toContain(' Z ')
    write(remote, { '.berth-sync.pid': pid })
    expect(await up()).toMatchObject({ files: 1 })
    expect(parent.exitCode).toBeNull()
    parent.kill()
  })

  test('never puts a partial file into place, even if two syncs overlap', async () => {
    const { here, remote, up, connect } = await openSync()
    const lines = 'whole '.repeat(20_000)
    write(here, { 'a.txt': lines })
    mkdirSync(remote)
    const whole = await archive({ 'a.txt': lines, [wholeName]: '' })
    const last = whole.length - 2048
    const begin = async () => {
      const values = { remote, fresh: '', whole: wholeName }
      return openScript((await connect()).connection, systemClock, values, takeScript)
    }
    const sync = await begin()
    await sync.write(whole.subarray(0, last))
    await expect.poll(() => content(join(remote, stagingName, 'a.txt'))).toBeDefined()
    const late = await begin()
    await late.write(whole.subarray(0, 20_000))
    late.end()
    expect(await answer(late)).toContain('failed')
    await sync.write(whole.subarray(last))
    sync.end()
    expect(await answer(sync)).toContain('broken')
    expect(content(join(remote, 'a.txt'))).toBeUndefined()
    await up()
    expect(content(join(remote, 'a.txt'))).toBe(lines)
    expect(readdirSync(remote)).toEqual(['a.txt'])
  })

  test('leaves each local file old or new, and the next sync completes it', async () => {
    const { sshd, here, remote, down, connect } = await openSync()
    const chance = seeded(17)
    let broken = 0
    let before: Record<string, string | undefined> = {}
    for (let round = 1; round <= cuts; round++) {
      const now = files(`round ${round}`)
      write(remote, now, 1_700_000_000 + round)
      const way = await cuttingWay(sshd.port, handshake + chance() * everything)
      const lease = await connect(way).catch(() => undefined)
      const end = lease ? await outcome(down({}, lease.connection)) : 'done'
      // Core continues at once only after ssh_closed.
      expect(['done', 'ssh_closed']).toContain(end)
      if (end !== 'done') broken++
      for (const path of Object.keys(now))
        expect([before[path], now[path]], path).toContain(content(join(here, path)))
      expect(await down()).toMatchObject({ beside: [], skipped: [] })
      for (const path of Object.keys(now)) expect(content(join(here, path)), path).toBe(now[path])
      const parts = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter(name =>
        name.endsWith('.berth-part'),
      )
      expect(parts).toEqual([])
      before = now
    }
    expect(broken).toBeGreaterThan(cuts / 3)
  })

  test('ends at once when it is aborted, and the next sync completes it', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'a.bin': Buffer.alloc(8_000_000, 'a'), 'b.bin': Buffer.alloc(8_000_000, 'b') })
    const calling = new AbortController()
    const reason = new Error('called off')
    const sync = up({
      signal: calling.signal,
      onProgress: ({ done }) => done > 9_000_000 && calling.abort(reason),
    })
    await expect(sync).rejects.toBe(reason)
    expect(content(join(remote, 'a.bin'))).toBeUndefined()
    await expect.poll(() => outcome(up())).toBe('done')
    expect(content(join(remote, 'b.bin'))).toBe('b'.repeat(8_000_000))
  })
})
