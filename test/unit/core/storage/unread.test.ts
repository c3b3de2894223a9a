import { expect, test } from 'vitest'
import { createStore, tellingUnread } from '#core/storage/store.ts'
import { accountView, emptyState } from '#test/unit/views.ts'

const unread = (count: number) =>
  Array.from({ length: count }, () => ({ id: undefined, path: '$', expected: '' }))

test('the answer with the most unreadable records counts, until the next request', async () => {
  const store = createStore({ ...emptyState(), accounts: { a1: accountView({ id: 'a1' }) } })
  const ask = (...counts: number[]) =>
    tellingUnread(store, 'a1', 'offers', async ({ onUnread }) => {
      for (const count of counts) onUnread?.(unread(count))
      return 'answer'
    })
  expect(await ask(0)).toBe('answer')
  expect(store.get().accounts['a1']?.unread).toBeUndefined()
  await ask(1, 2, 0)
  expect(store.get().accounts['a1']?.unread).toEqual({ offers: 2 })
  await ask(0)
  expect(store.get().accounts['a1']?.unread).toEqual({ offers: 0 })
})
