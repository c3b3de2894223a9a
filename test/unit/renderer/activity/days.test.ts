import { expect, test } from 'vitest'
import type { ActivityEntry } from '#contract/state.ts'
import { byDay } from '#renderer/screens/activity/days.ts'
import { answersSearch, mergedEntries } from '#renderer/screens/activity/merge.ts'

const entry = (id: string, at: Date, text = 'x'): ActivityEntry => ({
  id,
  at: at.getTime(),
  kind: 'user',
  text,
})
const now = new Date(2026, 10, 21, 9).getTime()

test('entries are grouped by local day, recent days by name', () => {
  const days = byDay(
    [
      entry('5', new Date(2026, 10, 21, 8)),
      entry('4', new Date(2026, 10, 21, 0, 1)),
      entry('3', new Date(2026, 10, 20, 23, 59)),
      entry('2', new Date(2026, 10, 18)),
      entry('1', new Date(2025, 11, 31)),
    ],
    now,
  )
  expect(days.map(({ title, entries }) => [title, entries.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 1],
    ['Wednesday 18 November', 1],
    ['Wednesday 31 December 2025', 1],
  ])
})

test('fetched and new entries make one list without duplicates, newest first', () => {
  const old = entry('1', new Date(now))
  const both = entry('2', new Date(now), 'fetched')
  const fresh = { ...both, text: 'newer' }
  expect(
    mergedEntries([both, old], [entry('3', new Date(now)), fresh]).map(({ id, text }) => id + text),
  ).toEqual(['3x', '2newer', '1x'])
})

test('an entry matches a search by its text or instance number', () => {
  const found = { ...entry('1', new Date(now), 'Outbid on RTX 4090'), instance: 4711 }
  expect(answersSearch(found, ' outbid ON ')).toBe(true)
  expect(answersSearch(found, '#4711')).toBe(true)
  expect(answersSearch(found, 'h100')).toBe(false)
})
