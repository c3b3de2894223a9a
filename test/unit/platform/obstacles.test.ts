import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as v from 'valibot'
import { beforeEach, describe, expect, test } from 'vitest'
import { openActivity } from '#core/activity.ts'
import { type BrokenFile, openDocument, watchedFiles } from '#core/storage/json-file.ts'
import { createStore } from '#core/storage/store.ts'
import { openFiles } from '#platform/files.ts'
import { openLog } from '#platform/log.ts'
import type { Files } from '#platform/platform.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { fileModes, lacks } from '#test/needs.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { emptyState } from '#test/unit/views.ts'

let home: string
let files: Files
let broken: BrokenFile[]
const onBroken = (file: BrokenFile) => void broken.push(file)

beforeEach(() => {
  home = temporaryFolder()
  files = watchedFiles(openFiles(home), () => undefined)
  broken = []
})

const clock = new HandClock()
const open = () => openDocument({ files, platform: { clock }, onBroken }, 'limits', v.array(v.number()), [])

/** What can be in the place of a file. */
const obstacles: [what: string, put: (path: string) => unknown][] = [
  ['a folder', path => mkdirSync(join(path, 'within'), { recursive: true })],
  ['a named pipe', path => execFileSync('mkfifo', [path])],
  ['a socket', path => once(createServer().listen(path).unref(), 'listening')],
  [
    'a file of 6 GB',
    path => {
      writeFileSync(path, '')
      truncateSync(path, 6 * 1024 ** 3)
    },
  ],
]

const readsAll = process.getuid?.() === 0 ? ' (skipped: root may read every file)' : ''

describe.skipIf(lacks(fileModes) !== '')('in the place of a file', () => {
  test.each(obstacles)('%s is told and moved aside, and holds nothing else up', async (_, put) => {
    await put(join(home, 'limits.json'))
    const document = await open()
    expect(document.get()).toEqual([])
    expect(broken).toMatchObject([{ name: 'limits', setAside: 'limits.json.broken', instances: [] }])
    await document.write(() => [1])
    expect((await open()).get()).toEqual([1])
    await put(join(home, 'activity.jsonl'))
    const store = createStore(emptyState())
    const activity = await openActivity(store, clock, [files], () => files, onBroken)
    activity.add({ kind: 'user', text: 'Started' })
    await activity.flush()
    expect(await files.read('activity.jsonl')).toContain('Started')
  })

  test.each(obstacles.slice(0, 2))('%s for the log loses its lines alone', async (_, put) => {
    mkdirSync(join(home, 'logs'))
    await put(join(home, 'logs/berth.log'))
    const before = statSync(join(home, 'logs/berth.log')).mode & 0o777
    const log = openLog(join(home, 'logs/berth.log'))
    log.line('one')
    log.lastLine('two')
    await log.close()
    expect(log.recent()).toHaveLength(2)
    expect(statSync(join(home, 'logs/berth.log')).mode & 0o777).toBe(before)
  })

  test('two things in one place are kept apart', async () => {
    mkdirSync(join(home, 'limits.json'))
    await open()
    mkdirSync(join(home, 'limits.json'))
    await open()
    expect(broken.map(({ setAside }) => setAside)).toEqual(['limits.json.broken', 'limits.json.broken-2'])
  })

  test.skipIf(readsAll)(`a file that may not be read is told${readsAll}`, async () => {
    writeFileSync(join(home, 'limits.json'), '[1]')
    chmodSync(join(home, 'limits.json'), 0)
    expect((await open()).get()).toEqual([])
    expect(broken).toMatchObject([{ why: 'may not be read by Berth', setAside: 'limits.json.broken' }])
  })
})
