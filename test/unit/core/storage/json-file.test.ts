import * as v from 'valibot'
import { beforeEach, expect, test } from 'vitest'
import { openDocument, watchedFiles } from '#core/storage/json-file.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

let files: MemoryFiles
let clock: HandClock
let setAside: string[]
beforeEach(() => {
  files = new MemoryFiles()
  clock = new HandClock()
  setAside = []
})

const open = () =>
  openDocument(
    { files, platform: { clock }, onBroken: broken => setAside.push(broken.setAside ?? '') },
    'list',
    v.array(v.number()),
    [],
  )
const onDisk = () => JSON.parse(files.texts.get('list.json') ?? 'null')
const add = (number: number) => (list: number[]) => [...list, number]

test('one bad item is left out alone, and the file as it was is kept', async () => {
  const text = '[1,"a",2]'
  files.texts.set('list.json', text)
  const document = await open()
  expect(document.get()).toEqual([1, 2])
  await document.flush()
  expect(onDisk()).toEqual([1, 2])
  expect([setAside, files.texts.get('list.json.broken')]).toEqual([['list.json.broken'], text])
  await open()
  expect(setAside).toHaveLength(1)
})

test('a file that an editor saved with a byte order mark is read', async () => {
  files.texts.set('list.json', '\ufeff[1,2]')
  expect((await open()).get()).toEqual([1, 2])
  expect(setAside).toEqual([])
})

test('a disk without room for the copy keeps the file as it is, until there is room', async () => {
  const text = '[1,"a",2]'
  files.texts.set('list.json', text)
  files.refusing = 'ENOSPC'
  const document = await open()
  expect(document.get()).toEqual([1, 2])
  await expect(document.write(add(3))).rejects.toThrow('ENOSPC')
  expect([...files.texts]).toEqual([['list.json', text]])
  files.refusing = undefined
  await document.write(add(3))
  expect([files.texts.get('list.json.broken'), onDisk()]).toEqual([text, [1, 2, 3]])
})

test.each(['', '{"half', '{"not":"a list"}', '\u0000'])(
  'a file that cannot be read (%j) is set aside, not lost',
  async text => {
    files.texts.set('list.json', text)
    const document = await open()
    expect(document.get()).toEqual([])
    expect(setAside).toEqual(['list.json.broken'])
    expect(files.texts.get('list.json.broken')).toBe(text)
  },
)

test('changes at once reach the disk in order and in one write, and what is there already in none', async () => {
  const document = await open()
  let release = () => {}
  files.held = new Promise(resolve => {
    release = resolve
  })
  const all = [1, 2, 3].map(number => document.write(add(number)))
  release()
  await Promise.all(all)
  expect(onDisk()).toEqual([1, 2, 3])
  await document.write(list => [...list])
  expect(files.writes.map(({ text }) => JSON.parse(text).length)).toEqual([3])
})

test('what may be on disk after a failed write is replaced, also by what was there before', async () => {
  const document = await open()
  await document.write(add(1))
  const before = files.texts.get('list.json') ?? ''
  files.refusing = 'EIO'
  await expect(document.write(add(2))).rejects.toThrow()
  files.refusing = undefined
  files.texts.set('list.json', before.replace('1', '1, 2'))
  await document.write(list => [...list])
  expect(onDisk()).toEqual([1])
})

test('many deferred changes are one write, within a second', async () => {
  const document = await open()
  for (let number = 0; number < 100; number += 1) document.writeSoon(add(number))
  expect(files.writes).toHaveLength(0)
  await clock.pass(1000)
  expect(files.writes).toHaveLength(1)
  expect(onDisk()).toHaveLength(100)
})

test('a flush writes pending changes only', async () => {
  const document = await open()
  document.writeSoon(add(1))
  await document.flush()
  expect(onDisk()).toEqual([1])
  await document.flush()
  await clock.pass(5000)
  expect(files.writes).toHaveLength(1)
})

test('nothing is written after a flush, even if the pending data was on disk already', async () => {
  const document = await open()
  await document.write(add(1))
  document.writeSoon(list => list)
  await document.flush()
  files.texts.clear()
  await clock.pass(60_000)
  expect([...files.texts.keys()]).toEqual([])
})

test('a failed write undoes only itself, not later changes', async () => {
  const document = await open()
  let release = () => {}
  files.held = new Promise(resolve => {
    release = resolve
  })
  files.refusing = 'ENOSPC'
  const refused = document.write(add(1))
  await flushPromises()
  const recorded = document.record(add(2))
  const written = document.write(add(3))
  document.writeSoon(add(4))
  const watched = expect(refused).rejects.toThrow()
  // The first one fails, and the disk has room again for the others.
  void refused.catch(() => {
    files.refusing = undefined
  })
  release()
  await Promise.all([watched, recorded, written])
  expect(document.get()).toEqual([2, 3, 4])
  await document.flush()
  expect(onDisk()).toEqual([2, 3, 4])
})

test('a full disk is reported once, and again only after it has worked', async () => {
  const heard: string[] = []
  const watched = watchedFiles(files, ({ problem }) => heard.push(problem.message))
  files.refusing = 'ENOSPC'
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(watched.write('list.json', '1')).rejects.toMatchObject({ problem: { code: 'not_written' } })
  expect(heard).toEqual(['list.json couldn’t be saved: the disk is full.'])
  files.refusing = undefined
  await watched.write('list.json', '1')
  files.refusing = 'EROFS'
  await expect(watched.append('list.json', '1')).rejects.toThrow(/read-only/)
  expect(heard).toHaveLength(2)
})
