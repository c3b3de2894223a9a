import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { chosenFolder, chosenItem } from '#platform/chosen-files.ts'
import { answeredDialogs } from '#test/berth/machine.ts'
import { codeOf, rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

const { SFTP } = createRequire(import.meta.url)('ssh2/lib/protocol/SFTP.js')

let world: World
let under: BerthUnderTest
let here: string
let instance: number

beforeEach(async () => {
  world = await createWorld({ speed: 600 })
  here = await mkdtemp(join(tmpdir(), 'berth-files-'))
  await mkdir(join(here, 'into'))
  world.platform.fileDialogs = answeredDialogs({
    chooseFiles: async () => [chosenItem(join(here, '-a file ü.bin'))],
    chooseFolders: async () => [chosenItem(join(here, 'data'))],
    chooseTarget: async () => chosenFolder(join(here, 'into')),
  })
  under = await world.startConnected()
  instance = (await rentRunning(under)).id
})
afterEach(async () => {
  vi.restoreAllMocks()
  await world.close()
  await rm(here, { recursive: true, force: true, maxRetries: 20 })
})

test('files in a folder that look like secrets are named before, and sent only if they were chosen', async () => {
  const text = `login("hf_${'aB3dE6gH9'.repeat(4)}")`
  await mkdir(join(here, 'data'))
  await writeFile(join(here, 'data', '.env'), 'TOKEN=abc')
  await writeFile(join(here, 'data', 'notes.py'), text)
  await writeFile(join(here, 'data', 'train.py'), 'print(1)')
  const { path: folder } = await under.run('listFiles', { instance })
  const sent = async (confirmed?: string[]) => {
    const { choice = '', plan } = (await under.run('chooseFiles', { what: 'folder' })) ?? {}
    expect(plan).toEqual({
      files: 1,
      bytes: 8,
      secrets: expect.arrayContaining([
        { path: 'data/.env' },
        { path: 'data/notes.py', holds: 'a Hugging Face token' },
      ]),
      ignored: { files: 0, bytes: 0, secrets: [] },
      linkedRules: [],
    })
    const id = await under.run('uploadChosen', { instance, folder, choice, replace: true, confirmed })
    await under.until(() => under.account().fileTransfers[id]?.step === 'done')
    const { entries } = await under.run('listFiles', { instance, path: `${folder}/data` })
    return {
      names: entries.map(({ name }) => name).sort(),
      leftOut: under.account().fileTransfers[id]?.leftOut,
    }
  }
  expect(await sent()).toEqual({ names: ['train.py'], leftOut: 2 })
  expect(await sent(['data/.env'])).toEqual({ names: ['.env', 'train.py'], leftOut: 1 })
})

test('ignored files of a folder are sent only if selected', async () => {
  const git = (...words: string[]) => execFileSync('git', ['-C', here, ...words], { stdio: 'ignore' })
  const files = {
    '.gitignore': '*.ckpt\n.venv/\n/data/private/\n',
    '.git/info/exclude': 'notes-private.md\n',
    'data/.berthignore': 'big/\n',
    'data/.env': 'TOKEN=abc',
    'data/.gitignore': '.env\n',
    'data/.venv/lib/x.py': 'x',
    'data/a.ckpt': 'weights',
    'data/big/x': 'x',
    'data/notes-private.md': 'mine',
    'data/kept.ckpt': 'vocabulary',
    'data/private/list.txt': 'names',
    'data/train.py': 'print(1)',
  }
  git('init', '-q')
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(here, path)), { recursive: true })
    await writeFile(join(here, path), text)
  }
  git('add', '-f', 'data/kept.ckpt')
  await symlink('private/list.txt', join(here, 'data', 'list'))
  await symlink('.env', join(here, 'data', 'settings'))
  const { path: folder } = await under.run('listFiles', { instance })
  const sent = async (choice: { confirmed?: string[]; whole?: boolean }) => {
    const { choice: chosen = '', plan } = (await under.run('chooseFiles', { what: 'folder' })) ?? {}
    expect(plan).toMatchObject({ files: 4, secrets: [], ignored: { files: 6 } })
    expect(plan?.ignored.secrets.map(({ path }) => path).sort()).toEqual(['data/.env', 'data/settings'])
    const id = await under.run('uploadChosen', { instance, folder, choice: chosen, replace: true, ...choice })
    await under.until(() => under.account().fileTransfers[id]?.step === 'done')
    const { entries } = await under.run('listFiles', { instance, path: `${folder}/data` })
    return entries.map(({ name }) => name).sort()
  }
  const tracked = ['.berthignore', '.gitignore', 'kept.ckpt', 'train.py']
  expect(await sent({})).toEqual(tracked)
  const all = [...tracked, '.venv', 'a.ckpt', 'big', 'list', 'notes-private.md', 'private']
  expect(await sent({ whole: true })).toEqual(all.sort())
  expect(await sent({ whole: true, confirmed: ['data/.env'] })).toEqual([...all, '.env'].sort())
})

test('ignore files among a page’s files apply to them', async () => {
  const paths = [
    ...['.git/info/exclude', '.gitignore', 'a.ckpt', 'node_modules/x/y.js', 'notes.md', 'train.py'],
    ...['sub/.gitignore', 'sub/keep.ckpt', 'sub/out/x'],
  ].map(path => `data/${path}`)
  const rules = (texts: Record<string, string>) =>
    under.run('rulesInPage', { paths: [...paths, 'a.ckpt'], texts })
  const { ignored } = await rules({
    'data/.git/info/exclude': 'notes.md\n',
    'data/.gitignore': '*.ckpt\nnode_modules/\n',
    'data/sub/.gitignore': '!keep.ckpt\nout\n',
  })
  expect([...ignored].sort()).toEqual(['data/a.ckpt', 'data/node_modules/', 'data/notes.md', 'data/sub/out/'])
  // A rule file that could not be read hides what it leaves out, so nothing is uploaded.
  expect(await codeOf(rules({}))).toBe('ignore_file')
})

const transfers = () => Object.values(under.account().fileTransfers)

test('a file is uploaded, replaced, renamed, downloaded and deleted without posix-rename', async () => {
  const bytes = Buffer.alloc(3_000_000, 'Berth')
  await writeFile(join(here, '-a file ü.bin'), bytes)
  const { path: folder } = await under.run('listFiles', { instance })
  await under.run('makeFolder', { instance, path: `${folder}/new one` })
  const to = `${folder}/new one`
  for (const replace of [false, true]) {
    const chosen = await under.run('chooseFiles', { what: 'files' })
    expect(chosen).toEqual({ choice: expect.stringMatching(/^c[0-9a-f]{32}$/), names: ['-a file ü.bin'] })
    const choice = chosen?.choice ?? ''
    const id = await under.run('uploadChosen', { instance, folder: to, choice, replace })
    await under.until(() => under.account().fileTransfers[id]?.step === 'done')
    expect(under.account().fileTransfers[id]).toMatchObject({
      direction: 'up',
      done: 3_000_000,
      filesDone: 1,
    })
    // A choice can be used once.
    expect(await codeOf(under.run('uploadChosen', { instance, folder: to, choice, replace }))).toBe(
      'no_such_choice',
    )
  }
  const again = await under.run('chooseFiles', { what: 'files' })
  const refusal = under.run('uploadChosen', {
    instance,
    folder: to,
    choice: again?.choice ?? '',
    replace: false,
  })
  expect(await codeOf(refusal)).toBe('exists')

  await under.run('renameFile', { instance, from: `${to}/-a file ü.bin`, to: `${to}/b` })
  const { entries } = await under.run('listFiles', { instance, path: to })
  expect(entries.map(({ name, size }) => [name, size])).toEqual([['b', 3_000_000]])
  const target = await under.run('chooseFolder', {})
  const { transfer, address } = await under.run('download', {
    instance,
    paths: [`${to}/b`],
    ...(target ? { into: target.choice } : {}),
  })
  expect(address).toBeUndefined()
  await under.until(() => under.account().fileTransfers[transfer]?.step === 'done')
  expect((await readFile(join(here, 'into', 'b'))).equals(bytes)).toBe(true)

  await under.run('deleteFiles', { instance, paths: [to] })
  expect(await codeOf(under.run('listFiles', { instance, path: to }))).toBe('no_such_file')
  for (const { id } of transfers()) await under.run('dismissFileTransfer', { transfer: id })
  await under.until(() => transfers().length === 0)
})

/** Cuts the connection once the server has answered the next such request, before Berth hears of it. */
function loseAnswer(request: 'mkdir' | 'rename' | 'rmdir' | 'write'): void {
  const original = SFTP.prototype[request]
  vi.spyOn(SFTP.prototype, request).mockImplementationOnce(function (
    this: { _client: { _sock: Socket } },
    ...args: unknown[]
  ) {
    original.call(this, ...args.slice(0, -1), () => this._client._sock.destroy())
  })
}

test('an action whose answer was lost counts as done', async () => {
  const { path: folder } = await under.run('listFiles', { instance })
  loseAnswer('mkdir')
  await under.run('makeFolder', { instance, path: `${folder}/a` })
  loseAnswer('rename')
  await under.run('renameFile', { instance, from: `${folder}/a`, to: `${folder}/b` })

  const path = `${folder}/b/text`
  const version = await under.run('writeTextFile', { instance, path, text: 'old' })
  loseAnswer('rename')
  await under.run('writeTextFile', { instance, path, text: 'newer', version })
  expect((await under.run('readTextFile', { instance, path })).text).toBe('newer')

  await writeFile(join(here, '-a file ü.bin'), 'sent')
  const chosen = await under.run('chooseFiles', { what: 'files' })
  loseAnswer('rename')
  const upload = { instance, folder: `${folder}/b`, choice: chosen?.choice ?? '', replace: false }
  const id = await under.run('uploadChosen', upload)
  await under.until(() => under.account().fileTransfers[id]?.step === 'done')

  loseAnswer('rmdir')
  await under.run('deleteFiles', { instance, paths: [`${folder}/b`] })
  const { entries } = await under.run('listFiles', { instance, path: folder })
  expect(entries.map(({ name }) => name)).not.toContain('b')
})

test('a save that the connection broke off leaves nothing behind once it is saved again', async () => {
  const { path: folder } = await under.run('listFiles', { instance })
  await under.run('makeFolder', { instance, path: `${folder}/a` })
  const names = async () => {
    const { entries } = await under.run('listFiles', { instance, path: `${folder}/a` })
    return entries.map(({ name }) => name)
  }
  const save = (text: string) => under.run('writeTextFile', { instance, path: `${folder}/a/text`, text })
  // It is tried twice.
  loseAnswer('write')
  loseAnswer('write')
  expect(await codeOf(save('a text'))).toBe('ssh_closed')
  expect(await names()).toEqual([expect.stringMatching(/^\..*\.berth-part$/)])
  await save('a text')
  expect(await names()).toEqual(['text'])
  const { text } = await under.run('readTextFile', { instance, path: `${folder}/a/text` })
  expect(text).toBe('a text')
})

test('a text file is written and read, and a local path is refused as an argument', async () => {
  const { path: folder } = await under.run('listFiles', { instance })
  const path = `${folder}/conf`
  const version = await under.run('writeTextFile', { instance, path, text: 'a\n' })
  expect(await under.run('readTextFile', { instance, path })).toEqual({ text: 'a\n', version })
  for (const [name, args] of [
    ['uploadChosen', { instance, folder, choice: '/etc/passwd', replace: true }],
    ['download', { instance, paths: [path], into: here }],
    ['listFiles', { instance, path: 'relative' }],
    ['listFiles', { instance, path: '/nul\0' }],
  ] as const)
    expect(await codeOf(under.berth.dispatch(name, args))).toBe('invalid_argument')
})

/** Starts Berth again, as if it had been killed while the transfer was under way. */
async function kill(transfer: string): Promise<void> {
  const kept = 'file-transfers.json'
  await expect.poll(() => world.platform.files.read(kept)).toContain(transfer)
  const atKill = (await world.platform.files.read(kept)) ?? ''
  await under.close()
  await world.platform.files.write(kept, atKill)
  under = await world.start()
}

async function uploadAndKill(what: 'files' | 'folder', folder: string, replace = false): Promise<string> {
  const { choice = '' } = (await under.run('chooseFiles', { what })) ?? {}
  const transfer = await under.run('uploadChosen', { instance, folder, choice, replace })
  await under.run('pauseFileTransfer', { transfer })
  await kill(transfer)
  return transfer
}

/** Retries a transfer, and gives it once it has ended again. */
async function retry(transfer: string) {
  const view = () => under.account().fileTransfers[transfer]
  const { endedAt } = view() ?? {}
  await under.run('resumeFileTransfer', { transfer })
  await under.until(() => view()?.endedAt !== undefined && view()?.endedAt !== endedAt)
  return view()
}

test('an upload cut off by a kill is reported, also in Transfers, and a retry resumes it', async () => {
  const bytes = Buffer.alloc(30_000_000, 'Berth')
  await writeFile(join(here, '-a file ü.bin'), bytes)
  const { path: folder } = await under.run('listFiles', { instance })
  const transfer = await uploadAndKill('files', folder)
  expect(under.account().fileTransfers[transfer]).toMatchObject({
    step: 'failed',
    resumable: true,
    problem: { code: 'berth_ended', advice: 'Retry. A partly sent file continues where it stopped.' },
  })
  const entries = await under.run('searchActivity', { text: 'Berth quit before', limit: 10 })
  expect(entries).toMatchObject([{ instance, kind: 'error', text: expect.stringContaining('-a file ü.bin') }])
  const listing = await under.run('listFiles', { instance, path: folder })
  expect(listing.entries.map(({ name }) => name)).not.toContain('-a file ü.bin')

  expect(await retry(transfer)).toMatchObject({ step: 'done', done: bytes.length, filesDone: 1 })
  // It is alerted once.
  await under.close()
  under = await world.start()
  expect(transfers()).toEqual([])
})

test('a retried folder keeps what has arrived, and replaces nothing else that is there', async () => {
  await mkdir(join(here, 'data'))
  for (const name of ['a', 'b']) await writeFile(join(here, 'data', name), 'sent')
  const { path: folder } = await under.run('listFiles', { instance })
  const transfer = await uploadAndKill('folder', folder)
  await under.run('makeFolder', { instance, path: `${folder}/data` }).catch(() => undefined)
  await under.run('writeTextFile', { instance, path: `${folder}/data/a`, text: 'here' })
  expect(await retry(transfer)).toMatchObject({ step: 'done', filesDone: 2 })
  expect((await under.run('readTextFile', { instance, path: `${folder}/data/a` })).text).toBe('here')
  expect((await under.run('readTextFile', { instance, path: `${folder}/data/b` })).text).toBe('sent')

  await under.run('deleteFiles', { instance, paths: [`${folder}/data`] })
  const other = await uploadAndKill('folder', folder)
  await under.run('makeFolder', { instance, path: `${folder}/data` }).catch(() => undefined)
  await under.run('writeTextFile', { instance, path: `${folder}/data/a`, text: 'longer' })
  expect(await retry(other)).toMatchObject({ step: 'failed', problem: { code: 'exists' } })
  expect((await under.run('readTextFile', { instance, path: `${folder}/data/a` })).text).toBe('longer')
})

test('a download that a kill cut off is retried into the same folder, and fails where a file to send is gone', async () => {
  const { path: folder } = await under.run('listFiles', { instance })
  await under.run('writeTextFile', { instance, path: `${folder}/b`, text: 'there' })
  const { choice = '' } = (await under.run('chooseFolder', {})) ?? {}
  const { transfer } = await under.run('download', { instance, paths: [`${folder}/b`], into: choice })
  await under.run('pauseFileTransfer', { transfer })
  await kill(transfer)
  expect(await retry(transfer)).toMatchObject({ step: 'done' })
  expect(await readFile(join(here, 'into', 'b'), 'utf8')).toBe('there')

  await writeFile(join(here, '-a file ü.bin'), 'sent')
  const up = await uploadAndKill('files', folder)
  await rm(join(here, '-a file ü.bin'))
  expect(await retry(up)).toMatchObject({ step: 'failed', problem: { code: 'no_such_file' } })
})
