import { beforeEach, expect, test } from 'vitest'
import { openActivity } from '#core/activity.ts'
import { createStore, type Store } from '#core/storage/store.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { emptyState } from '#test/unit/views.ts'

let files: MemoryFiles
let clock: HandClock
let store: Store
beforeEach(() => {
  files = new MemoryFiles()
  clock = new HandClock()
  store = createStore(emptyState())
})

const open = () =>
  openActivity(
    store,
    clock,
    [files],
    () => files,
    ({ why }) => expect.fail(why),
  )
const shown = () => Object.keys(store.get().activity).sort()
const note = (text: string) => ({ kind: 'user', text }) as const

test('ids are unique and grow when the clock stands still or jumps back', async () => {
  const activity = await open()
  for (let index = 0; index < 500; index += 1) {
    if (index === 100) clock.wall -= 1_000_000
    if (index === 300) clock.wall += 2_000_000
    activity.add(note(`entry ${index}`))
  }
  const ids = activity
    .search('', undefined, 1000)
    .map(({ id }) => id)
    .reverse()
  expect(new Set(ids).size).toBe(500)
  expect([...ids].sort()).toEqual(ids)
})

test('State holds the newest two hundred entries', async () => {
  const activity = await open()
  for (let index = 0; index < 450; index += 1) activity.add(note(`entry ${index}`))
  expect(shown()).toHaveLength(200)
  expect(Object.values(store.get().activity).some(({ text }) => text === 'entry 449')).toBe(true)
  expect(Object.values(store.get().activity).some(({ text }) => text === 'entry 249')).toBe(false)
})

test('entries are found by text, detail or instance, newest first, page by page', async () => {
  const activity = await open()
  for (let index = 0; index < 30; index += 1)
    activity.add({
      kind: 'berth',
      text: `Rented ${index}`,
      detail: index % 2 ? 'Odd' : 'Even',
      instance: index,
    })
  const first = activity.search('ODD', undefined, 10)
  expect(first.map(({ instance }) => instance)).toEqual([29, 27, 25, 23, 21, 19, 17, 15, 13, 11])
  const second = activity.search('odd', first.at(-1)?.id, 10)
  expect(second.map(({ instance }) => instance)).toEqual([9, 7, 5, 3, 1])
  expect(activity.search('#29', undefined, 10)).toHaveLength(1)
  expect(activity.search('nothing like it', undefined, 10)).toEqual([])
})

test('entries survive a restart, and broken lines are skipped', async () => {
  const activity = await open()
  activity.add(note('kept'))
  await activity.flush()
  files.texts.set('activity.jsonl', `{"half\n${files.texts.get('activity.jsonl')}{"id":7}\n\n`)
  store = createStore(emptyState())
  const again = await open()
  expect(again.search('', undefined, 10).map(({ text }) => text)).toEqual(['kept'])
  again.add(note('later'))
  expect(again.search('', undefined, 10).map(({ text }) => text)).toEqual(['later', 'kept'])
})

test('an entry that cannot be written still shows, and later ones are written', async () => {
  const activity = await open()
  files.refusing = 'ENOSPC'
  activity.add(note('not written'))
  await activity.flush()
  expect(shown()).toHaveLength(1)
  files.refusing = undefined
  activity.add(note('written'))
  await activity.flush()
  expect(files.texts.get('activity.jsonl')).toContain('written')
})

test('a file of more than 10,000 entries is cut to the newest 5000', async () => {
  const line = (index: number) =>
    `${JSON.stringify({ id: String(index).padStart(9, '0'), at: index, kind: 'user', text: `entry ${index}` })}\n`
  files.texts.set('activity.jsonl', Array.from({ length: 10_001 }, (_, index) => line(index)).join(''))
  const activity = await open()
  expect(files.texts.get('activity.jsonl')?.trim().split('\n')).toHaveLength(5000)
  expect(activity.search('entry 10000', undefined, 5)).toHaveLength(1)
})
