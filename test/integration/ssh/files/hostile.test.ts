import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import ssh2, { type Attributes, type FileEntry, type Connection as ServerSide } from 'ssh2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chosenFolder } from '#platform/chosen-files.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { treeBounds } from '#shared/instance/files.ts'
import { remove } from '#ssh/files/remove.ts'
import { listBounds, openSftp, type Sftp } from '#ssh/files/sftp.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import { localName } from '#ssh/files/transfer/local-names.ts'
import { listFolder, walk } from '#ssh/files/walk.ts'
import { codeOf, problemOf } from '#test/berth/steps.ts'
import { nastyNames } from '#test/hostile/names.ts'
import { listen } from '#test/loopback.ts'
import { newKey } from '#test/new-key.ts'
import { openScratch } from '../machine.ts'
import { target } from '../steps.ts'

const never = new AbortController().signal
const quiet = () => undefined
const text = 'what the server wrote'

interface Listing {
  /** Whether listings never end. */
  endless?: boolean
  /** Records the requests, in order. */
  asked?: string[]
}

/** An SFTP server that lists the given entries in `/evil` and serves the same text for every file. */
async function hostileServer(entries: FileEntry[], telling: Listing = {}): Promise<Sftp> {
  const { ssh } = openScratch()
  const hostKey = newKey().private
  const server = new ssh2.Server({ hostKeys: [hostKey] }, client => serve(client, entries, telling))
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const { connection } = await ssh.connect(target({ direct: { host: '127.0.0.1', port } }))
  return openSftp(connection, systemClock)
}

function attributes(mode: number, size = text.length): Attributes {
  return { mode, size, uid: 0, gid: 0, atime: 1, mtime: 1 }
}

const fileMode = 0o100_644
const folderMode = 0o040_755

function serve(client: ServerSide, entries: FileEntry[], { endless = false, asked = [] }: Listing): void {
  const { STATUS_CODE } = ssh2.utils.sftp
  client.on('error', quiet)
  client.on('authentication', context => context.accept())
  client.on('session', accept =>
    accept().on('sftp', acceptSftp => {
      const sftp = acceptSftp()
      let told = false
      const isFolder = (path: string) => path === '/evil' || path.endsWith('more')
      sftp.on('error', quiet)
      sftp.on('REALPATH', id =>
        sftp.name(id, [{ filename: '/evil', longname: '', attrs: attributes(folderMode) }]),
      )
      sftp.on('STAT', (id, path) => sftp.attrs(id, attributes(isFolder(path) ? folderMode : fileMode)))
      sftp.on('LSTAT', (id, path) => sftp.attrs(id, attributes(isFolder(path) ? folderMode : fileMode)))
      sftp.on('FSTAT', id => sftp.attrs(id, attributes(fileMode)))
      sftp.on('OPENDIR', id => {
        asked.push('OPENDIR')
        told = false
        sftp.handle(id, Buffer.from('d'))
      })
      sftp.on('READDIR', id => {
        asked.push('READDIR')
        if (told && !endless) return sftp.status(id, STATUS_CODE.EOF)
        told = true
        return sftp.name(id, entries)
      })
      sftp.on('OPEN', id => sftp.handle(id, Buffer.from('f')))
      sftp.on('READ', (id, _handle, offset, length) => {
        const bytes = Buffer.from(text).subarray(offset, offset + length)
        if (bytes.length === 0) sftp.status(id, STATUS_CODE.EOF)
        else sftp.data(id, bytes)
      })
      sftp.on('CLOSE', id => sftp.status(id, STATUS_CODE.OK))
      const deleted = (id: number) => {
        asked.push('REMOVE')
        sftp.status(id, STATUS_CODE.OK)
      }
      sftp.on('REMOVE', deleted)
      sftp.on('RMDIR', deleted)
    }),
  )
}

function entry(filename: string, mode = fileMode): FileEntry {
  return { filename, longname: '', attrs: attributes(mode) }
}

/** A folder in a folder, to detect files outside the inner one. */
function folders(): { outer: string; inner: string } {
  const outer = mkdtempSync(join(tmpdir(), 'berth-hostile-'))
  onTestFinished(() => rmSync(outer, { recursive: true, force: true, maxRetries: 20 }))
  const inner = join(outer, 'chosen')
  mkdirSync(inner)
  return { outer, inner }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    statSync(join(folder, name)).isFile(),
  )
}

/** Downloads its folder into one here. */
async function download(sftp: Sftp, inner: string, system: 'linux' | 'darwin') {
  const job = downloadJob({ paths: ['/evil'], into: chosenFolder(inner), system, changed: quiet })
  await job.prepare(sftp, never)
  await job.run(sftp, never)
  return job
}

describe('a hostile server', () => {
  test('can’t write outside the chosen folder by any file name', async () => {
    expect(nastyNames.length).toBeGreaterThan(50)
    const sftp = await hostileServer(nastyNames.map(([name]) => entry(name)))
    const { outer, inner } = folders()
    const job = await download(sftp, inner, 'linux')
    const wanted = nastyNames.flatMap(([, here]) => (here === undefined ? [] : [here])).sort()
    expect(readdirSync(join(inner, 'evil')).sort()).toEqual(wanted)
    expect(filesIn(outer).every(name => name.startsWith(`chosen${sep}evil${sep}`))).toBe(true)
    expect(readFileSync(join(inner, 'evil', 'evil_gpj.exe'), 'utf8')).toBe(text)
    // `.` and `..`, which every folder has, are not counted.
    expect(job.leftOut()).toBe(nastyNames.filter(([, here]) => here === undefined).length - 2)
  })

  test.each(nastyNames.map(([name]) => name))(
    'the name %j becomes a safe file name on every system, or none',
    name => {
      for (const system of ['linux', 'darwin', 'win32'] as const) {
        const here = localName(name, system)
        if (here === undefined) continue
        expect(here).not.toMatch(/[/\0\p{Cc}\p{Cf}\u2028\u2029]|^\.{0,2}$/u)
        expect(Buffer.byteLength(here)).toBeLessThan(256)
        if (system !== 'win32') continue
        expect(here).not.toMatch(/[<>:"|?*\\]|[. ]$/)
        expect(here.split('.')[0]?.trim()).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/i)
      }
    },
  )

  test.each(nastyNames.map(([name]) => name))('the name %j is shown without control characters', name => {
    expect(harmless(name)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  })

  test('lists only possible file names, each once', async () => {
    const sftp = await hostileServer([...nastyNames, ...nastyNames].map(([name]) => entry(name)))
    const { entries } = await listFolder(sftp, '/evil')
    expect(entries.map(({ name }) => name)).toEqual(
      nastyNames
        .map(([name]) => name)
        .filter(name => !/[/\0]/.test(name) && name !== '' && !/^\.\.?$/.test(name)),
    )
  })

  test('cannot overwrite files with names that map to the same or differ only in case', async () => {
    const sftp = await hostileServer(['a\u200bb', 'a\u200cb', 'a_b', 'A_B'].map(name => entry(name)))
    const { inner } = folders()
    await download(sftp, inner, 'darwin')
    expect(readdirSync(join(inner, 'evil')).sort()).toEqual(['A_B (4)', 'a_b', 'a_b (2)', 'a_b (3)'])
  })

  test('endlessly nested folders are neither downloaded nor deleted', async () => {
    const asked: string[] = []
    const sftp = await hostileServer([entry('file'), entry('more', folderMode)], { asked })
    const { inner } = folders()
    const job = downloadJob({ paths: ['/evil'], into: chosenFolder(inner), system: 'linux', changed: quiet })
    const problems = [await problemOf(job.prepare(sftp, never)), await problemOf(remove(sftp, '/evil'))]
    expect(problems.map(({ code }) => code)).toEqual(['too_deep', 'too_deep'])
    expect(problems[1]?.message).toContain('64')
    expect(asked.filter(one => one === 'OPENDIR').length).toBeLessThan(200)
    expect(asked).not.toContain('REMOVE')
    expect(readdirSync(inner)).toEqual([])
  })

  test('endlessly branching folders are neither listed nor deleted in part', async () => {
    const asked: string[] = []
    const inside = Array.from({ length: 50 }, (_, at) => entry(`${at}-more`, folderMode))
    const sftp = await hostileServer([...inside, entry('more', folderMode)], { asked })
    const bounds = { ...treeBounds, entries: 500, depth: 1000 }
    const problems = [
      await problemOf(remove(sftp, '/evil', bounds)),
      await problemOf(walk(sftp, ['/evil'], never, bounds)),
    ]
    expect(problems.map(({ code }) => code)).toEqual(['too_many_files', 'too_many_files'])
    expect(problems[0]?.message).toContain('500')
    expect(asked).not.toContain('REMOVE')
  })

  test('overlong names are counted but not kept, and block deleting the folder', async () => {
    const long = 'n'.repeat(100_000)
    const sftp = await hostileServer([entry('file'), entry(long), entry(`${long}2`)])
    const { entries, unnamed } = await listFolder(sftp, '/evil')
    expect(entries.map(({ name }) => name)).toEqual(['file'])
    expect(unnamed).toBe(2)
    expect((await walk(sftp, ['/evil'], never)).leftOut).toBe(2)
    expect(await codeOf(remove(sftp, '/evil'))).toBe('too_many_files')
  })

  test('endless long names stop at a size limit', async () => {
    const long = 'n'.repeat(2000)
    const asked: string[] = []
    const names = Array.from({ length: 100 }, (_, at) => entry(`${long}${at}`))
    const sftp = await hostileServer(names, { endless: true, asked })
    const { entries, more } = await sftp.list('/evil', Number.POSITIVE_INFINITY)
    expect(more).toBe(true)
    expect(entries).toEqual([])
    const told = asked.filter(one => one === 'READDIR').length * 100 * 2000
    expect(told).toBeLessThan(1.1 * listBounds.characters)
  })

  test('an endless list is cut at 20,000 entries', async () => {
    const sftp = await hostileServer(
      Array.from({ length: 1000 }, (_, at) => entry(`file ${at}`)),
      { endless: true },
    )
    const { entries, more } = await listFolder(sftp, '/evil')
    expect(more).toBe(true)
    expect(entries.length).toBeLessThanOrEqual(20_000)
  })

  test('a name with ../ stops the deletion of its folder', async () => {
    const sftp = await hostileServer([entry('../precious')])
    expect(await codeOf(remove(sftp, '/evil'))).toBe('file_failed')
  })

  test('a name that is not UTF-8 is never requested', async () => {
    const sftp = await hostileServer([entry('caf\ufffd')])
    expect(await codeOf(sftp.remove('/evil/caf\ufffd'))).toBe('unreadable_name')
  })
})
