import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tree } from '../files/place.ts'
import { noSshd } from '../own-root.ts'
import { openSync, write } from './place.ts'

const now = () => Math.floor(Date.now() / 1000)
const text = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8')

/** Writes checkpoints of a million bytes in place as fast as K a second, and rests a moment after each. */
const rewriting = `mkdir -p out
for epoch in 1 2 3 4 5 6 7 8 9; do
  : > out/ck.bin
  for piece in 1 2 3 4 5 6; do head -c 170000 /dev/zero | tr '\\0' "$epoch" >> out/ck.bin; sleep 0.3; done
  printf END >> out/ck.bin
  sleep 1
done`

/** A program on the machine that holds a file open and writes to it. One of this computer wouldn't be seen there. */
async function programWriting(connect: Awaited<ReturnType<typeof openSync>>['connect'], path: string) {
  const { connection } = await connect()
  const input = new PassThrough()
  const ended = connection.ssh.execCommand(`exec cat > '${path}'`, { stdin: input })
  let written = ''
  return {
    async writes(more: string): Promise<void> {
      written += more
      input.write(more)
      await expect.poll(() => existsSync(path) && readFileSync(path, 'utf8')).toBe(written)
    },
    async ends(): Promise<void> {
      input.end()
      await ended
    },
  }
}

describe.skipIf(noSshd)(`downloading while a program writes${noSshd}`, () => {
  test('a checkpoint being rewritten never replaces the whole one, which the next whole one does', async () => {
    const { here, remote, down, connect } = await openSync()
    write(remote, { 'out/ck.bin': 'whole one', 'out/epoch': '1' })
    expect(await down()).toMatchObject({ files: 2, unsettled: [] })
    const writer = await programWriting(connect, join(remote, 'out/ck.bin'))
    await writer.writes('whole')
    write(remote, { 'out/epoch': '2!' }, now() - 100)
    expect((await down()).unsettled.toSorted()).toEqual(['out/ck.bin', 'out/epoch'])
    expect([text(here, 'out/ck.bin'), text(here, 'out/epoch')]).toEqual(['whole one', '1'])
    await writer.writes(' two')
    await writer.ends()
    expect(await down()).toMatchObject({ files: 2, unsettled: [] })
    expect(text(here, 'out/ck.bin')).toBe('whole two')
    expect(text(here, '.berth-earlier/out/ck.bin')).toBe('whole one')
  })

  test('of a checkpoint in several files none comes before all of them are whole', async () => {
    const { here, remote, down, connect } = await openSync()
    write(remote, { 'out/step-1/model': 'one', 'out/step-1/optimizer': 'one' })
    await down()
    write(remote, { 'out/step-2/model': 'two' }, now() - 5)
    const writer = await programWriting(connect, join(remote, 'out/step-2/optimizer'))
    await writer.writes('0'.repeat(100_000))
    expect((await down()).unsettled.toSorted()).toEqual(['out/step-2/model', 'out/step-2/optimizer'])
    expect(Object.keys(tree(here)).sort()).toEqual(['out/step-1/model', 'out/step-1/optimizer'])
    expect(readdirSync(join(here, 'out'))).toEqual(['step-1'])
    await writer.ends()
    await down()
    expect(Object.keys(tree(here))).toHaveLength(4)
    // Its other part may still come, for a minute.
    write(remote, { 'out/step-2/model': 'two', 'out/step-2/optimizer': 'two' }, now() - 300)
    write(remote, { 'out/step-3/model': 'three' }, now() - 30)
    expect((await down()).unsettled).toEqual(['out/step-3/model'])
    expect(readdirSync(join(here, 'out')).toSorted()).toEqual(['step-1', 'step-2'])
    write(remote, { 'out/step-3/model': 'three' }, now() - 70)
    expect((await down()).unsettled).toEqual([])
    expect(readdirSync(join(here, 'out'))).toContain('step-3')
  })

  test('a file with a temporary name waits without what is beside it, and comes at last', async () => {
    const { here, remote, down, connect } = await openSync()
    write(remote, { 'out/ck.bin': 'whole one' })
    await down()
    const writer = await programWriting(connect, join(remote, 'out/ck.bin.tmp'))
    await writer.writes('half')
    write(remote, { 'out/ck.bin': 'whole two' }, now() - 5)
    expect(await down()).toMatchObject({ files: 1, unsettled: [] })
    expect(readdirSync(join(here, 'out'))).toEqual(['ck.bin'])
    await writer.ends()
    expect(await down({ last: true })).toMatchObject({ files: 1, unsettled: [] })
    expect(text(here, 'out/ck.bin.tmp')).toBe('half')
  })

  test('a checkpoint that is written all the time comes whole or not at all', async () => {
    const { here, remote, down } = await openSync()
    mkdirSync(remote)
    const writer = spawn('sh', ['-c', rewriting], { cwd: remote, stdio: 'ignore' })
    onTestFinished(() => void writer.kill())
    await expect.poll(() => existsSync(join(remote, 'out/ck.bin'))).toBe(true)
    await down()
    const copy = join(here, 'out/ck.bin')
    if (existsSync(copy)) expect(readFileSync(copy, 'utf8')).toMatch(/^(.)\1{1019999}END$/)
  })

  test('a log that is written all the time is downloaded as far as it has come', async () => {
    const { here, remote, down } = await openSync()
    mkdirSync(join(remote, 'out'), { recursive: true })
    const log = join(remote, 'out/log')
    const writing = setInterval(() => appendFileSync(log, 'a line\n'), 100)
    onTestFinished(() => clearInterval(writing))
    writeFileSync(log, 'first line\n')
    write(remote, { 'out/model': 'whole' })
    expect(await down()).toMatchObject({ files: 2, unsettled: [] })
    const first = text(here, 'out/log')
    expect(await down()).toMatchObject({ files: 1, unsettled: [] })
    expect(text(here, 'out/log').startsWith(`${first}a line\n`)).toBe(true)
  })
})
