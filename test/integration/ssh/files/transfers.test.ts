import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chosenFolder, chosenItem } from '#platform/chosen-files.ts'
import { remove } from '#ssh/files/remove.ts'
import type { Sftp } from '#ssh/files/sftp.ts'
import { readRemoteText, writeText } from '#ssh/files/text.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import { uploadJob } from '#ssh/files/transfer/upload.ts'
import { listFolder, walk } from '#ssh/files/walk.ts'
import { codeOf } from '#test/berth/steps.ts'
import { liveMemory } from '#test/live-memory.ts'
import { lacks, root } from '#test/needs.ts'
import { noSshd } from '../own-root.ts'
import { hashOf, openPlace, tree } from './place.ts'
import { randomFile } from './random-file.ts'

const never = new AbortController().signal
const quiet = () => undefined
/** The number of files in the large folder; 100,000 in `npm run soak folder`. */
const many = Number(process.env['BERTH_FILES'] ?? 2000)

type UploadWanted = Partial<Parameters<typeof uploadJob>[0]> & { signal?: AbortSignal }

/** Uploads what is at a local path; resolves with the job at its end. */
async function send(over: Sftp, path: string, into: string, { signal = never, ...more }: UploadWanted = {}) {
  const up = uploadJob({
    folder: into,
    list: chosenItem(path).list,
    replace: false,
    changed: quiet,
    ...more,
  })
  await up.prepare(over, never)
  await up.run(over, signal)
  return up
}

/** Downloads a path into a local folder; resolves with the job at its end. */
async function receive(over: Sftp, path: string, into: string, changed: () => void = quiet) {
  const down = downloadJob({ paths: [path], into: chosenFolder(into), system: 'linux', changed })
  await down.prepare(over, never)
  await down.run(over, never)
  return down
}

/** Records deletions instead of sending them, since a mistake would delete the disk of this machine. */
function deletingNothing(over: Sftp): { deleted: string[]; harmless: Sftp } {
  const deleted: string[] = []
  const note = async (path: string) => void deleted.push(path)
  const list = async () => ({ entries: [], more: false, unnamed: 0 })
  return { deleted, harmless: { ...over, list, remove: note, removeFolder: note } }
}

/** Owner, group and the bits of the mode. */
function rightsOf(path: string): [number, number, string] {
  const { uid, gid, mode } = statSync(path)
  return [uid, gid, (mode & 0o7777).toString(8)]
}

describe.skipIf(noSshd)(`files over Debian’s sshd${noSshd}`, () => {
  test('a thousand files in folders are uploaded and downloaded with the right hashes', async () => {
    const { here, there, sftp } = await openPlace()
    const source = join(here, 'data set')
    for (let folder = 0; folder < 10; folder++) {
      mkdirSync(join(source, `part ${folder}`), { recursive: true })
      for (let file = 0; file < 100; file++)
        await randomFile(join(source, `part ${folder}`, `-file ${file} ü.bin`), file * 37)
    }
    mkdirSync(join(source, 'empty'))
    const over = await sftp()
    const up = await send(over, source, there)
    expect(up.tally()).toMatchObject({ files: 1000, filesDone: 1000, done: up.tally()?.total })
    expect(tree(there)).toEqual(tree(here))
    expect(readdirSync(join(there, 'data set'))).toContain('empty')

    const back = join(here, 'back')
    mkdirSync(back)
    await receive(over, join(there, 'data set'), back)
    expect(tree(back)).toEqual(tree(there))
  })

  test('64 MB are uploaded and downloaded with the right hash and at most 40 MB of memory', async () => {
    const { here, there, sftp } = await openPlace()
    const hash = await randomFile(join(here, 'big'), 64 * 1024 * 1024)
    const over = await sftp()
    let most = 0
    const before = liveMemory()
    let steps = 0
    const watch = () => {
      steps += 1
      if (steps % 160 === 0) most = Math.max(most, liveMemory() - before)
    }
    await send(over, join(here, 'big'), there, { changed: watch })
    expect(hashOf(join(there, 'big'))).toBe(hash)

    mkdirSync(join(here, 'back'))
    await receive(over, join(there, 'big'), join(here, 'back'), watch)
    expect(hashOf(join(here, 'back', 'big'))).toBe(hash)
    expect(steps).toBeGreaterThan(400)
    expect(most).toBeLessThan(40 * 1024 * 1024)
  })

  test(`a folder of ${many} files is looked through and deleted`, async () => {
    const { there, sftp } = await openPlace()
    const folder = join(there, 'many')
    for (let at = 0; at < many; at += 1) {
      if (at % 1000 === 0) mkdirSync(join(folder, String(at / 1000)), { recursive: true })
      writeFileSync(join(folder, String(Math.floor(at / 1000)), `checkpoint-${at}.safetensors`), '')
    }
    const over = await sftp()
    expect((await walk(over, [folder], never)).files).toHaveLength(many)
    await remove(over, folder)
    expect(existsSync(folder)).toBe(false)
  })

  test('an interrupted upload leaves only a part file, and resumes after what arrived', async () => {
    const { here, there, sftp } = await openPlace()
    const hash = await randomFile(join(here, 'big'), 32 * 1024 * 1024)
    const over = await sftp()
    const stop = new AbortController()
    const list = chosenItem(join(here, 'big')).list
    const first = uploadJob({
      folder: there,
      list,
      replace: false,
      changed: () => (first.tally()?.done ?? 0) > 8_000_000 && stop.abort(new Error('stopped')),
    })
    await first.prepare(over, never)
    await expect(first.run(over, stop.signal)).rejects.toThrow('stopped')
    expect(readdirSync(there).every(name => name.endsWith('.berth-part'))).toBe(true)

    let least = Number.POSITIVE_INFINITY
    const second = uploadJob({
      folder: there,
      list,
      replace: false,
      changed: () => {
        least = Math.min(least, second.tally()?.done ?? 0)
      },
    })
    await second.prepare(over, never)
    await second.run(over, never)
    expect(least).toBeGreaterThan(8_000_000)
    expect(readdirSync(there)).toEqual(['big'])
    expect(hashOf(join(there, 'big'))).toBe(hash)
  })

  test('a corrupted part file is not resumed', async () => {
    const { here, there, sftp } = await openPlace()
    const hash = await randomFile(join(here, 'big'), 8 * 1024 * 1024)
    const over = await sftp()
    const stop = new AbortController()
    const list = chosenItem(join(here, 'big')).list
    const first = uploadJob({
      folder: there,
      list,
      replace: false,
      changed: () => (first.tally()?.done ?? 0) > 3_000_000 && stop.abort(),
    })
    await first.prepare(over, never)
    await first.run(over, stop.signal).catch(quiet)
    const [part = ''] = readdirSync(there)
    writeFileSync(join(there, part), Buffer.alloc(3_000_000))
    await send(over, join(here, 'big'), there)
    expect(hashOf(join(there, 'big'))).toBe(hash)
  })

  test('a download keeps an existing file and adds a number to its own name', async () => {
    const { here, there, sftp } = await openPlace()
    writeFileSync(join(there, 'notes.txt'), 'theirs')
    writeFileSync(join(here, 'notes.txt'), 'mine')
    await receive(await sftp(), join(there, 'notes.txt'), here)
    expect(readFileSync(join(here, 'notes.txt'), 'utf8')).toBe('mine')
    expect(readFileSync(join(here, 'notes (2).txt'), 'utf8')).toBe('theirs')
  })

  test('an upload replaces a file only if allowed, and keeps its mode', async () => {
    const { here, there, sftp } = await openPlace()
    writeFileSync(join(here, 'run.sh'), 'new')
    writeFileSync(join(there, 'run.sh'), 'old', { mode: 0o750 })
    const over = await sftp()
    expect(await codeOf(send(over, join(here, 'run.sh'), there))).toBe('exists')
    await send(over, join(here, 'run.sh'), there, { replace: true })
    expect(readFileSync(join(there, 'run.sh'), 'utf8')).toBe('new')
    expect((await over.stat(join(there, 'run.sh'))).mode & 0o777).toBe(0o750)
  })

  test('a sent folder includes nothing from outside it', async () => {
    const { here, there, sftp } = await openPlace()
    const repo = join(here, 'repo')
    mkdirSync(join(repo, 'docs'), { recursive: true })
    mkdirSync(join(here, 'repo-old'))
    writeFileSync(join(here, 'id_ed25519'), 'private')
    writeFileSync(join(here, 'repo-old', 'key'), 'private')
    writeFileSync(join(repo, 'docs', 'README'), 'read me')
    symlinkSync('docs/README', join(repo, 'inside'))
    symlinkSync('../repo/docs/README', join(repo, 'back inside'))
    symlinkSync('../id_ed25519', join(repo, 'README'))
    symlinkSync('../repo-old/key', join(repo, 'beside'))
    symlinkSync(join(here, 'id_ed25519'), join(repo, 'docs', 'absolute'))
    symlinkSync('README', join(repo, 'over another link'))
    symlinkSync('..', join(repo, 'a folder'))
    symlinkSync('repo', join(here, 'chosen'))
    const list = chosenItem(join(here, 'chosen')).list
    await send(await sftp(), join(here, 'chosen'), there, { replace: true })
    const sent = readdirSync(there, { recursive: true, encoding: 'utf8' }).sort()
    expect(sent).toEqual(
      ['chosen', 'chosen/back inside', 'chosen/docs', 'chosen/docs/README', 'chosen/inside'].sort(),
    )
    expect(readFileSync(join(there, 'chosen', 'inside'), 'utf8')).toBe('read me')
    expect((await list()).leftOut).toBe(5)
  })

  test.skipIf(lacks(root))(`an edited or replaced file keeps its owner and mode${lacks(root)}`, async () => {
    const { here, there, sftp } = await openPlace()
    const over = await sftp()
    const theirs = join(there, 'theirs')
    writeFileSync(theirs, 'old')
    const giveAway = () => {
      chownSync(theirs, 1234, 2345)
      chmodSync(theirs, 0o6750)
    }
    giveAway()
    await writeText(over, theirs, 'edited', undefined)
    expect(rightsOf(theirs)).toEqual([1234, 2345, '6750'])
    writeFileSync(join(here, 'theirs'), 'sent')
    await send(over, join(here, 'theirs'), there, { replace: true })
    expect(readFileSync(theirs, 'utf8')).toBe('sent')
    expect(rightsOf(theirs)).toEqual([1234, 2345, '6750'])

    // Where the owner cannot be set, the set-id bits are dropped, too.
    const humble = { ...over, setOwner: () => over.setOwner(join(there, 'nothing'), { user: 0, group: 0 }) }
    await writeText(humble, theirs, 'edited', undefined)
    expect(rightsOf(theirs)).toEqual([0, 0, '750'])
    giveAway()
    await send(humble, join(here, 'theirs'), there, { replace: true })
    expect(rightsOf(theirs)).toEqual([0, 0, '750'])
    expect(readdirSync(there)).toEqual(['theirs'])
  })

  test('an upload over a link writes its target, existing or not, and keeps the link', async () => {
    const { here, there, sftp } = await openPlace()
    const over = await sftp()
    mkdirSync(join(there, 'conf'))
    writeFileSync(join(there, 'conf', 'real.yaml'), 'old', { mode: 0o640 })
    symlinkSync('conf/real.yaml', join(there, 'conf.yaml'))
    symlinkSync('conf/later.yaml', join(there, 'later.yaml'))
    for (const name of ['conf.yaml', 'later.yaml']) {
      writeFileSync(join(here, name), `new ${name}`)
      await send(over, join(here, name), there, { replace: true })
    }
    expect(readlinkSync(join(there, 'conf.yaml'))).toBe('conf/real.yaml')
    expect(readFileSync(join(there, 'conf', 'real.yaml'), 'utf8')).toBe('new conf.yaml')
    expect(rightsOf(join(there, 'conf', 'real.yaml'))[2]).toBe('640')
    expect(readlinkSync(join(there, 'later.yaml'))).toBe('conf/later.yaml')
    expect(readFileSync(join(there, 'conf', 'later.yaml'), 'utf8')).toBe('new later.yaml')
    expect(readdirSync(there).sort()).toEqual(['conf', 'conf.yaml', 'later.yaml'])
    expect(readdirSync(join(there, 'conf')).sort()).toEqual(['later.yaml', 'real.yaml'])
  })

  test('an executable file stays executable after the upload, and no other becomes so', async () => {
    const { here, there, sftp } = await openPlace()
    const over = await sftp()
    const local = join(here, 'tools')
    mkdirSync(local)
    writeFileSync(join(local, 'run.sh'), '')
    chmodSync(join(local, 'run.sh'), 0o700)
    writeFileSync(join(local, 'notes'), '')
    chmodSync(join(local, 'notes'), 0o666)
    await send(over, local, there, { replace: true })
    expect(rightsOf(join(there, 'tools', 'run.sh'))[2]).toBe('755')
    expect(rightsOf(join(there, 'tools', 'notes'))[2]).toBe('644')
  })

  test('links are listed with their target and its kind', async () => {
    const { there, sftp } = await openPlace()
    mkdirSync(join(there, 'folder'))
    writeFileSync(join(there, 'file'), 'abc')
    symlinkSync('folder', join(there, 'to folder'))
    symlinkSync('nowhere', join(there, 'to nothing'))
    symlinkSync('file', join(there, '-to file'))
    const { entries, path } = await listFolder(await sftp(), `${there}/folder/..`)
    expect(path).toBe(there)
    expect(Object.fromEntries(entries.map(({ name, kind, link }) => [name, link ?? kind]))).toEqual({
      folder: 'folder',
      file: 'file',
      'to folder': { to: 'folder', kind: 'folder' },
      'to nothing': { to: 'nowhere', kind: 'nothing' },
      '-to file': { to: 'file', kind: 'file' },
    })
  })

  test('a name that is not UTF-8 is listed with a mark, but not downloaded or deleted', async () => {
    const { here, there, sftp } = await openPlace()
    writeFileSync(Buffer.concat([Buffer.from(`${there}/caf`), Buffer.from([0xe9])]), 'latin')
    writeFileSync(join(there, 'fine'), 'x')
    const over = await sftp()
    const { entries } = await listFolder(over, there)
    expect(entries.map(({ name }) => name).sort()).toEqual(['caf\ufffd', 'fine'])
    expect(await codeOf(remove(over, join(there, 'caf\ufffd')))).toBe('unreadable_name')
    expect((await receive(over, there, here)).leftOut()).toBe(1)
    expect(Object.keys(tree(here))).toEqual([join('there', 'fine')])
  })

  test('deleting a folder deletes its links, not their targets', async () => {
    const { there, sftp } = await openPlace()
    mkdirSync(join(there, 'kept'))
    writeFileSync(join(there, 'kept', 'precious'), 'x')
    mkdirSync(join(there, 'gone', 'deep'), { recursive: true })
    symlinkSync('../kept', join(there, 'gone', 'link'))
    const over = await sftp()
    await remove(over, join(there, 'gone'))
    expect(readdirSync(there)).toEqual(['kept'])
    expect(readdirSync(join(there, 'kept'))).toEqual(['precious'])
  })

  test('deleting a link deletes only the link, also one to the root folder', async () => {
    const { there, sftp } = await openPlace()
    mkdirSync(join(there, 'kept'))
    writeFileSync(join(there, 'kept', 'precious'), 'x')
    symlinkSync('kept', join(there, 'to kept'))
    const over = await sftp()
    await remove(over, join(there, 'to kept'))
    expect(readdirSync(there)).toEqual(['kept'])
    expect(readdirSync(join(there, 'kept'))).toEqual(['precious'])
    symlinkSync('/', join(there, 'to all'))
    const { deleted, harmless } = deletingNothing(over)
    await remove(harmless, join(there, 'to all'))
    expect(deleted).toEqual([join(there, 'to all')])
  })

  test('the root folder is never deleted, under any name', async () => {
    const { there, sftp } = await openPlace()
    symlinkSync('/', join(there, 'to all'))
    const { deleted, harmless } = deletingNothing(await sftp())
    const names = ['/', '//', '/./..', '/tmp/..', '/tmp/../', `${there}/to all/`, `${there}/to all/.`]
    for (const name of names) {
      expect(await codeOf(remove(harmless, name)), name).toBe('file_denied')
    }
    expect(deleted).toEqual([])
  })

  test('a text is edited through a link, but not if it has changed since it was read', async () => {
    const { there, sftp } = await openPlace()
    writeFileSync(join(there, 'conf'), 'a = 1\n', { mode: 0o640 })
    symlinkSync('conf', join(there, 'link'))
    const over = await sftp()
    const { text, version } = await readRemoteText(over, join(there, 'link'))
    expect(text).toBe('a = 1\n')
    await writeText(over, join(there, 'link'), 'a = 22\n', version)
    expect(readFileSync(join(there, 'conf'), 'utf8')).toBe('a = 22\n')
    expect((await over.linkStat(join(there, 'link'))).mode & 0o170_000).toBe(0o120_000)
    expect((await over.stat(join(there, 'conf'))).mode & 0o777).toBe(0o640)
    expect(await codeOf(writeText(over, join(there, 'link'), 'b', version))).toBe('changed_meanwhile')
    expect(readdirSync(there).sort()).toEqual(['conf', 'link'])
    writeFileSync(join(there, 'binary'), Buffer.from([0x66, 0, 1]))
    writeFileSync(join(there, 'latin'), Buffer.from([0x66, 0xfc]))
    expect(await codeOf(readRemoteText(over, join(there, 'binary')))).toBe('not_text')
    expect(await codeOf(readRemoteText(over, join(there, 'latin')))).toBe('not_text')
  })
})
