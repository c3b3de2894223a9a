import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import ssh2, { type Attributes, type FileEntry, type Connection as ServerSide } from 'ssh2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { harmless } from '../../../../electron/contract/instance/file-names.ts'
import { chosenFolder } from '../../../../electron/local/chosen/chosen-folder.ts'
import { createSsh } from '../../../../electron/ssh/connection/connections.ts'
import { downloadJob } from '../../../../electron/ssh/files/download.ts'
import { localName } from '../../../../electron/ssh/files/local-names.ts'
import { remove } from '../../../../electron/ssh/files/remove.ts'
import { openSftp, type Sftp } from '../../../../electron/ssh/files/sftp.ts'
import { listFolder } from '../../../../electron/ssh/files/walk.ts'
import { scratchMachine } from '../machine.ts'
import { problemOf, target } from '../steps.ts'

const never = new AbortController().signal
const quiet = () => undefined
const text = 'what the server wrote'

/** Names a server could make up, and what comes of each on Linux: a name in the folder, or nothing. */
const nasty: [name: string, here: string | undefined][] = [
  ['', undefined],
  ['.', undefined],
  ['..', undefined],
  ['/', undefined],
  ['../evil', undefined],
  ['../../etc/cron.d/evil', undefined],
  ['/etc/passwd', undefined],
  ['a/b', undefined],
  ['a/../../b', undefined],
  ['./a', undefined],
  ['nul\0byte', undefined],
  ['\0', undefined],
  ['....//....//evil', undefined],
  ['~', '~'],
  ['~root', '~root'],
  ['-rf', '-rf'],
  ['--help', '--help'],
  ['-o ProxyCommand=evil', '-o ProxyCommand=evil'],
  [' ', ' '],
  [' leading', ' leading'],
  ['trailing ', 'trailing '],
  ['trailing.', 'trailing.'],
  ['...', '...'],
  ['.. ', '.. '],
  ['..\\evil', '..\\evil'],
  ['C:\\Windows\\evil', 'C:\\Windows\\evil'],
  ['C:evil', 'C:evil'],
  ['file:stream', 'file:stream'],
  ['CON', 'CON'],
  ['con.txt', 'con.txt'],
  ['NUL', 'NUL'],
  ['LPT1.log', 'LPT1.log'],
  ['new\nline', 'new_line'],
  ['return\rback', 'return_back'],
  ['tab\there', 'tab_here'],
  ['\u001b[31mred\u001b[0m', '_[31mred_[0m'],
  ['\u001b]52;c;ZXZpbA==\u0007', '_]52;c;ZXZpbA==_'],
  ['bell\u0007', 'bell_'],
  ['evil\u202egpj.exe', 'evil_gpj.exe'],
  ['\u2066isolate\u2069', '_isolate_'],
  ['zero\u200bwidth', 'zero_width'],
  ['\ufeffmark', '_mark'],
  ['line\u2028separator', 'line_separator'],
  ['\u0085next', '_next'],
  ['tag\u{e0041}', 'tag_'],
  ['"quoted"', '"quoted"'],
  ["it's; rm -rf $HOME", "it's; rm -rf $HOME"],
  ['$(reboot)`reboot`', '$(reboot)`reboot`'],
  ['<script>alert(1)</script>'.replace('/', '\u2215'), '<script>alert(1)<\u2215script>'],
  ['*?[a-z]', '*?[a-z]'],
  ['x'.repeat(255), 'x'.repeat(240)],
  ['\u65e5\u672c\u8a9e \u{1f600}.txt', '\u65e5\u672c\u8a9e \u{1f600}.txt'],
]

/** An SFTP server that lists whatever it is told to, in its folder `/evil`, and serves the same text for every file. */
async function hostileServer(entries: FileEntry[], endless = false): Promise<Sftp> {
  const machine = scratchMachine()
  onTestFinished(() => machine.remove())
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519').private
  const server = new ssh2.Server({ hostKeys: [hostKey] }, client => serve(client, entries, endless))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const ssh = createSsh(machine)
  onTestFinished(() => ssh.close())
  const { connection } = await ssh.connect(target({ direct: { host: '127.0.0.1', port: address.port } }))
  return openSftp(connection)
}

function attributes(mode: number, size = text.length): Attributes {
  return { mode, size, uid: 0, gid: 0, atime: 1, mtime: 1 }
}

const fileMode = 0o100_644
const folderMode = 0o040_755

function serve(client: ServerSide, entries: FileEntry[], endless: boolean): void {
  const { STATUS_CODE } = ssh2.utils.sftp
  client.on('error', quiet)
  client.on('authentication', context => context.accept())
  client.on('session', accept =>
    accept().on('sftp', acceptSftp => {
      const sftp = acceptSftp()
      let told = false
      const isFolder = (path: string) => path === '/evil' || path.endsWith('/more')
      sftp.on('error', quiet)
      sftp.on('REALPATH', id =>
        sftp.name(id, [{ filename: '/evil', longname: '', attrs: attributes(folderMode) }]),
      )
      sftp.on('STAT', (id, path) => sftp.attrs(id, attributes(isFolder(path) ? folderMode : fileMode)))
      sftp.on('LSTAT', (id, path) => sftp.attrs(id, attributes(isFolder(path) ? folderMode : fileMode)))
      sftp.on('FSTAT', id => sftp.attrs(id, attributes(fileMode)))
      sftp.on('OPENDIR', id => {
        told = false
        sftp.handle(id, Buffer.from('d'))
      })
      sftp.on('READDIR', id => {
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
      sftp.on('REMOVE', id => sftp.status(id, STATUS_CODE.OK))
      sftp.on('RMDIR', id => sftp.status(id, STATUS_CODE.OK))
    }),
  )
}

function entry(filename: string, mode = fileMode): FileEntry {
  return { filename, longname: '', attrs: attributes(mode) }
}

/** A folder in a folder, so that what leaves it is seen. */
function folders(): { outer: string; inner: string } {
  const outer = mkdtempSync(join(tmpdir(), 'berth-hostile-'))
  onTestFinished(() => rmSync(outer, { recursive: true, force: true }))
  const inner = join(outer, 'chosen')
  mkdirSync(inner)
  return { outer, inner }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    statSync(join(folder, name)).isFile(),
  )
}

describe('a hostile server', () => {
  test('has more than fifty names, each refused or mapped into the chosen folder', async () => {
    expect(nasty.length).toBeGreaterThan(50)
    const sftp = await hostileServer(nasty.map(([name]) => entry(name)))
    const { outer, inner } = folders()
    const job = downloadJob({ paths: ['/evil'], into: chosenFolder(inner), system: 'linux', changed: quiet })
    await job.prepare(sftp, never)
    await job.run(sftp, never)
    const wanted = nasty.flatMap(([, here]) => (here === undefined ? [] : [here])).sort()
    expect(readdirSync(join(inner, 'evil')).sort()).toEqual(wanted)
    expect(filesIn(outer).every(name => name.startsWith(`chosen${sep}evil${sep}`))).toBe(true)
    expect(readFileSync(join(inner, 'evil', 'evil_gpj.exe'), 'utf8')).toBe(text)
    // All but `.` and `..`, which every folder has, are told of.
    expect(job.leftOut()).toBe(nasty.filter(([, here]) => here === undefined).length - 2)
  })

  test.each(nasty.map(([name]) => name))('the name %j is a plain step on every system, or none', name => {
    for (const system of ['linux', 'darwin', 'win32'] as const) {
      const here = localName(name, system)
      if (here === undefined) continue
      expect(here).not.toMatch(/[/\0\p{Cc}\p{Cf}\u2028\u2029]|^\.{0,2}$/u)
      expect(Buffer.byteLength(here)).toBeLessThan(256)
      if (system !== 'win32') continue
      expect(here).not.toMatch(/[<>:"|?*\\]|[. ]$/)
      expect(here.split('.')[0]?.trim()).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/i)
    }
  })

  test.each(nasty.map(([name]) => name))('the name %j is shown harmlessly', name => {
    expect(harmless(name)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  })

  test('lists what can be a name, and nothing else, once', async () => {
    const sftp = await hostileServer([...nasty, ...nasty].map(([name]) => entry(name)))
    const { entries } = await listFolder(sftp, '/evil')
    expect(entries.map(({ name }) => name)).toEqual(
      nasty.map(([name]) => name).filter(name => !/[/\0]/.test(name) && name !== '' && !/^\.\.?$/.test(name)),
    )
  })

  test('names that come to the same, or differ in case alone, do not overwrite each other', async () => {
    const sftp = await hostileServer(['a\u200bb', 'a\u200cb', 'a_b', 'A_B'].map(name => entry(name)))
    const { inner } = folders()
    const job = downloadJob({ paths: ['/evil'], into: chosenFolder(inner), system: 'darwin', changed: quiet })
    await job.prepare(sftp, never)
    await job.run(sftp, never)
    expect(readdirSync(join(inner, 'evil')).sort()).toEqual(['A_B (4)', 'a_b', 'a_b (2)', 'a_b (3)'])
  })

  test('folders in folders without end are left out from some depth on', async () => {
    const sftp = await hostileServer([entry('file'), entry('more', folderMode)])
    const { inner } = folders()
    const job = downloadJob({ paths: ['/evil'], into: chosenFolder(inner), system: 'linux', changed: quiet })
    await job.prepare(sftp, never)
    expect(job.leftOut()).toBe(1)
    expect(job.tally()?.files).toBeLessThan(100)
  })

  test('a list without end ends', async () => {
    const sftp = await hostileServer(
      Array.from({ length: 1000 }, (_, at) => entry(`file ${at}`)),
      true,
    )
    const { entries, more } = await listFolder(sftp, '/evil')
    expect(more).toBe(true)
    expect(entries.length).toBeLessThanOrEqual(20_000)
  })

  test('deleting a folder does not follow a name out of it', async () => {
    const sftp = await hostileServer([entry('../precious')])
    expect((await problemOf(remove(sftp, '/evil'))).code).toBe('file_failed')
  })

  test('a name that is not UTF-8 is never asked for', async () => {
    const sftp = await hostileServer([entry('caf\ufffd')])
    expect((await problemOf(sftp.remove('/evil/caf\ufffd'))).code).toBe('unreadable_name')
  })
})
