import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFolderSync } from '#core/access/folder-sync.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import type { SyncProgress } from '#shared/instance/sync.ts'
import { openPlace, tree } from '#test/integration/ssh/files/place.ts'
import { scratchMachine } from '#test/integration/ssh/machine.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { write } from '#test/integration/ssh/sync/place.ts'
import { instanceView } from '#test/unit/views.ts'

const signal = new AbortController().signal

async function openFolderSync() {
  const { sshd, there, connect } = await openPlace()
  const { files, remove } = scratchMachine()
  onTestFinished(remove)
  const folder = mkdtempSync(join(tmpdir(), 'berth-project-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  const open = () =>
    createFolderSync({
      connect: () => connect(),
      platform: { clock: systemClock, os: 'linux', syncedFolders: systemSyncedFolders },
      files,
      folder: 'accounts/a00000001',
      onBroken: () => undefined,
    })
  return { sshd, files, folder, remote: join(there, 'project'), open, instance: instanceView({ id: 4711 }) }
}

describe.skipIf(noSshd)(`folder sync with an instance${noSshd}`, () => {
  test('an upload continues automatically after a lost connection', async () => {
    const { sshd, folder, remote, open, instance } = await openFolderSync()
    for (let at = 0; at < 20; at++) write(folder, { [`${at}.bin`]: Buffer.alloc(2_000_000, at) })
    let cut = false
    const told: SyncProgress[] = []
    await open().up(instance, {
      folder,
      remote,
      signal,
      onProgress(progress) {
        told.push(progress)
        if (cut || progress.done < 10_000_000) return
        cut = true
        sshd.dropConnections()
      },
    })
    expect(cut).toBe(true)
    expect(tree(remote)).toEqual(tree(folder))
    expect(told.at(-1)?.done).toBe(told.at(-1)?.total)
  })

  test('downloads are remembered over a restart, and local changes are kept', async () => {
    const { folder, remote, open, instance } = await openFolderSync()
    mkdirSync(remote)
    write(remote, { 'out/a.pt': 'one', 'out/b.pt': 'one' })
    const wanted = { folder, remote, paths: ['out/'], by: 'j1', signal }
    expect(await open().down(instance, wanted)).toMatchObject({ files: 2, filesInAll: 2 })
    expect(await open().hasAll(folder, 'j1')).toBe(true)
    write(remote, { 'out/a.pt': 'two', 'out/b.pt': 'two' }, 1_700_000_009)
    writeFileSync(join(folder, 'out/b.pt'), 'mine')
    expect([await open().hasAll(folder, 'j1'), await open().hasAll(folder, 'j2')]).toEqual([false, true])
    expect(await open().down(instance, wanted)).toMatchObject({
      files: 2,
      filesInAll: 3,
      skipped: [],
      beside: [{ path: 'out/b.pt', as: 'out/b (from instance 4711).pt' }],
    })
    expect(Object.keys(tree(join(folder, 'out')))).toEqual(['a.pt', 'b (from instance 4711).pt', 'b.pt'])
    write(remote, { 'out/a.pt': 'three' }, 1_700_000_020)
    expect(await open().down(instance, wanted)).toMatchObject({ files: 1, filesInAll: 3 })
    write(remote, { 'out/a.pt': 'four' }, 1_700_000_030)
    expect(await open().down(instance, { ...wanted, by: 'j2' })).toMatchObject({ files: 1, filesInAll: 1 })
    // What the run before had stays, however often this one is downloaded.
    write(remote, { 'out/a.pt': 'five' }, 1_700_000_040)
    expect(await open().down(instance, { ...wanted, by: 'j2' })).toMatchObject({ files: 1, filesInAll: 1 })
    for (const [number, by] of ['j3', 'j4'].entries()) {
      write(remote, { 'out/a.pt': ['six', 'seven'][number] ?? '' }, 1_700_000_050 + 10 * number)
      expect(await open().down(instance, { ...wanted, by })).toMatchObject({ files: 1 })
    }
    const earlier = (path: string) => readFileSync(join(folder, '.berth-earlier', path), 'utf8')
    const kept = ['of run j1/out/a.pt', 'out/a.pt', 'of run j2/out/a.pt', 'of run j3/out/a.pt'].map(earlier)
    expect(kept).toEqual(['three', 'four', 'five', 'six'])
    // Changed here, or downloaded for that run: the next machine gets no result of another one.
    const next = `${remote}-next`
    await open().up(instance, { folder, remote: next, results: ['out'], own: 'j4', signal })
    expect(Object.keys(tree(join(next, 'out')))).toEqual(['a.pt', 'b.pt'])
    // A run goes on with its own newest version of what was changed or deleted here, under the name that it has there.
    const changes = [
      () => undefined,
      () => rmSync(join(folder, 'out/b.pt')),
      () => writeFileSync(join(folder, '.gitignore'), 'out/\n'),
    ]
    for (const [number, change] of changes.entries()) {
      change()
      // Ignored or not.
      expect(await open().scan(folder, { results: ['out'] })).toMatchObject({ results: 2 })
      expect(await open().hasAll(folder, 'j1')).toBe(true)
      const moved = `${remote}-moved-${number}`
      await open().up(instance, { folder, remote: moved, results: ['out'], own: 'j1', signal })
      expect(Object.keys(tree(join(moved, 'out')))).toEqual(['b.pt'])
      expect(readFileSync(join(moved, 'out/b.pt'), 'utf8')).toBe('two')
    }
  })

  test('files that arrived before a kill count as downloaded', async () => {
    const { sshd, folder, remote, open, files, instance } = await openFolderSync()
    write(remote, { 'out/small': 'one', 'out/large': '', 'out/larger': '' })
    for (const name of ['large', 'larger']) truncateSync(join(remote, 'out', name), 100 * 1024 * 1024)
    const abort = new AbortController()
    let isCut = false
    const downloading = open().down(instance, {
      folder,
      remote,
      paths: ['out'],
      by: 'j1',
      signal: abort.signal,
      onProgress({ filesDone }) {
        if (filesDone === 0 || isCut) return
        isCut = true
        void sshd.stop()
      },
    })
    downloading.catch(() => undefined)
    const kept = async () => (await files.read('accounts/a00000001/fetched-files.json')) ?? ''
    await expect.poll(kept).toContain('"out/')
    abort.abort()
    await downloading.catch(() => undefined)
  })
})
