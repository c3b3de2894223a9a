import * as v from 'valibot'
import { expect, test } from 'vitest'
import { openCollection } from '#core/storage/collection.ts'
import { isDeepEqual } from '#core/storage/store.ts'
import type { AccountView } from '#shared/state.ts'
import { account, accountContext } from '#test/berth/account-context.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

const Task = v.object({ id: v.string(), step: v.string(), note: v.exactOptional(v.string()) })
type Task = v.InferOutput<typeof Task>

const file = `accounts/${account}/tasks.json`

/** Tasks, shown as the failed hosts of their account. */
async function open(files = new MemoryFiles()) {
  const clock = new HandClock()
  const quitting = new AbortController()
  const context = accountContext({ clock, files, quitting: quitting.signal })
  const tasks = await openCollection(context, {
    name: 'tasks',
    schema: Task,
    key: ({ id }) => id,
    missing: { code: 'no_such_task', message: 'That task is gone.' },
    prune: { isOver: ({ step }) => step === 'done', most: 2 },
    view: all => ({
      failedMachines: Object.fromEntries(
        all.map(task => [task.id, { ...task }]),
      ) as unknown as AccountView['failedMachines'],
    }),
  })
  const shown = () => context.store.get().accounts[account]?.failedMachines as Record<string, unknown>
  const onDisk = (): Task[] => JSON.parse(files.texts.get(file) ?? '[]')
  return { tasks, files, clock, shown, onDisk, end: () => quitting.abort() }
}

test('an added record is in State and on disk, and survives a restart', async () => {
  const { tasks, files, shown } = await open()
  await tasks.add({ id: 'a', step: 'new' })
  expect(shown()).toEqual({ a: { id: 'a', step: 'new' } })
  expect((await open(files)).tasks.get('a').step).toBe('new')
})

test('a failed write adds nothing, removes nothing and makes no intended change', async () => {
  const { tasks, files, shown } = await open()
  await tasks.add({ id: 'a', step: 'new' })
  files.refusing = 'ENOSPC'
  await expect(tasks.add({ id: 'b', step: 'new' })).rejects.toThrow('ENOSPC')
  await expect(tasks.intend('a', { step: 'begun' })).rejects.toThrow('ENOSPC')
  await expect(tasks.remove('a')).rejects.toThrow('ENOSPC')
  expect(tasks.all()).toEqual([{ id: 'a', step: 'new' }])
  expect(shown()).toEqual({ a: { id: 'a', step: 'new' } })
})

test('an event counts at once, on a full disk too, and is written once there is room', async () => {
  const { tasks, files, clock, shown, onDisk } = await open()
  await tasks.add({ id: 'a', step: 'new', note: 'x' })
  files.refusing = 'ENOSPC'
  const updating = tasks.update('a', { step: 'done', note: undefined })
  expect(shown()).toEqual({ a: { id: 'a', step: 'done' } })
  expect(await updating).toEqual({ id: 'a', step: 'done' })
  await tasks.put({ id: 'b', step: 'new' })
  await tasks.forget('a')
  expect(onDisk()).toEqual([{ id: 'a', step: 'new', note: 'x' }])
  files.refusing = undefined
  await clock.pass(10_000)
  expect(onDisk()).toEqual([{ id: 'b', step: 'new' }])
  expect(shown()).toEqual({ b: { id: 'b', step: 'new' } })
})

test('a file whose end is missing still has its whole records, and tells of the other', async () => {
  const { tasks, files } = await open()
  for (const id of ['a', 'b', 'c']) await tasks.add({ id, step: 'new' })
  const whole = files.texts.get(file) ?? ''
  const read = async (length: number) => {
    const told: (number | undefined)[] = []
    const cut = new MemoryFiles()
    cut.texts.set(file, whole.slice(0, length))
    const place = accountContext({ files: cut, onBroken: ({ lost }) => void told.push(lost) })
    const { all } = await openCollection(place, { name: 'tasks', schema: Task, key: ({ id }) => id })
    return { ids: all().map(({ id }) => id), told }
  }
  for (let length = 1; length < whole.trimEnd().length; length += 1) {
    const { ids, told } = await read(length)
    const ends = ['a', 'b', 'c'].filter(id => length >= whole.indexOf('}', whole.indexOf(`"${id}"`)) + 1)
    expect(ids, `cut at ${length}`).toEqual(ends)
    expect(told).toHaveLength(1)
  }
})

test('an unknown key is undefined in `find`, a problem in `get`, and never added', async () => {
  const { tasks } = await open()
  expect(tasks.find('a')).toBeUndefined()
  expect(() => tasks.get('a')).toThrow('That task is gone.')
  expect(await tasks.update('a', { step: 'done' })).toBeUndefined()
  expect(tasks.all()).toEqual([])
})

test('a record can be added in place of another, and a put record keeps its place', async () => {
  const { tasks } = await open()
  for (const id of ['a', 'b', 'c']) await tasks.add({ id, step: 'new' })
  await tasks.add({ id: 'd', step: 'new' }, 'b')
  await tasks.put({ id: 'a', step: 'begun' }, { id: 'e', step: 'new' })
  expect(tasks.all().map(({ id, step }) => `${id} ${step}`)).toEqual(['a begun', 'c new', 'd new', 'e new'])
})

test('only the latest finished records are kept when something is added', async () => {
  const { tasks } = await open()
  for (const id of ['a', 'b', 'c']) await tasks.put({ id, step: 'new' })
  for (const id of ['a', 'b', 'c']) await tasks.update(id, { step: 'done' })
  expect(tasks.all()).toHaveLength(3)
  await tasks.add({ id: 'd', step: 'new' })
  expect(tasks.all().map(({ id }) => id)).toEqual(['b', 'c', 'd'])
})

test('unchanged records keep their identity in State', async () => {
  const { tasks, shown } = await open()
  await tasks.put({ id: 'a', step: 'new' }, { id: 'b', step: 'new' })
  const before = shown()
  await tasks.update('b', { step: 'done' })
  expect(shown()['a']).toBe(before['a'])
  const after = shown()
  tasks.show()
  await tasks.update('b', { step: 'done' })
  expect(shown()).toBe(after)
})

test('`putSoon` writes within a second, and State follows with the next change', async () => {
  const { tasks, clock, shown, onDisk } = await open()
  await tasks.add({ id: 'a', step: 'new' })
  tasks.putSoon({ id: 'a', step: 'newer' })
  expect([shown(), onDisk()]).toEqual([{ a: { id: 'a', step: 'new' } }, [{ id: 'a', step: 'new' }]])
  tasks.show()
  await clock.pass(1000)
  expect([shown(), onDisk()]).toEqual([{ a: { id: 'a', step: 'newer' } }, [{ id: 'a', step: 'newer' }]])
})

test('State does not change once Berth ends', async () => {
  const { tasks, shown, end } = await open()
  end()
  await tasks.put({ id: 'a', step: 'new' })
  expect(shown()).toEqual({})
})

const nested = (depth: number): unknown => (depth === 0 ? 1 : { in: nested(depth - 1) })

test('values nested too deeply count as different, without a stack overflow', () => {
  expect(isDeepEqual(nested(50), nested(50))).toBe(true)
  let deep: unknown = 1
  let twin: unknown = 1
  for (let level = 0; level < 100_000; level += 1) {
    deep = { in: deep }
    twin = { in: twin }
  }
  expect(isDeepEqual(deep, twin)).toBe(false)
})

test('what could not be read again is refused before an action, and recorded without that part after one', async () => {
  const Measure = v.object({ id: v.string(), figure: v.optional(v.number()), whole: v.number() })
  const files = new MemoryFiles()
  const heard: string[] = []
  const context = accountContext({ files, onBroken: ({ name, why }) => void heard.push(`${name} ${why}`) })
  const openMeasures = () =>
    openCollection(context, { name: 'measures', schema: Measure, key: ({ id }) => id })
  const measures = await openMeasures()
  await measures.add({ id: 'a', whole: 1 })
  const refused = { problem: { code: 'not_stored' } }
  await expect(measures.add({ id: 'b', whole: Number.NaN })).rejects.toMatchObject(refused)
  await expect(measures.addAll([{ id: 'b', whole: Number.NaN }])).rejects.toMatchObject(refused)
  await expect(measures.intend('a', { figure: Number.POSITIVE_INFINITY })).rejects.toMatchObject(refused)
  expect([measures.all(), heard]).toEqual([[{ id: 'a', whole: 1 }], []])
  await measures.update('a', { figure: Number.POSITIVE_INFINITY, whole: 2 })
  expect(heard).toEqual(['measures had a number that can’t be stored'])
  expect((await openMeasures()).all()).toEqual([{ id: 'a', whole: 2 }])
  expect(heard).toHaveLength(1)
})
