import { expect, test } from 'vitest'
import {
  answersSearch,
  byDay,
  entryWords,
  mergedEntries,
} from '#renderer/screens/activity/activityView.svelte.ts'
import { stories } from '#renderer/screens/activity/stories.ts'
import type { ActivityEntry } from '#shared/state.ts'

const entry = (id: string, at: Date, text = 'x'): ActivityEntry => ({
  id,
  at: at.getTime(),
  kind: 'user',
  text,
})
const now = new Date(2026, 10, 21, 9).getTime()

test('entries are grouped by local day, recent days by name', () => {
  const days = byDay(
    stories([
      entry('5', new Date(2026, 10, 21, 8)),
      entry('4', new Date(2026, 10, 21, 0, 1)),
      entry('3', new Date(2026, 10, 20, 23, 59)),
      entry('2', new Date(2026, 10, 18)),
      entry('1', new Date(2025, 11, 31)),
    ]),
    now,
  )
  expect(days.map(({ title, stories }) => [title, stories.length])).toEqual([
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

test('the steps of a rental are one story until its instance is ready, and the rest stays apart', () => {
  const at = (minute: number) => new Date(2026, 10, 21, 8, minute)
  const entries: ActivityEntry[] = [
    { ...entry('7', at(30), 'Stopped #5'), instance: 5 },
    { ...entry('6', at(4), 'RTX 4090 #5 is ready'), instance: 5, kind: 'alert', good: true },
    { ...entry('5', at(3), 'Stopped #4'), instance: 4 },
    { ...entry('4', at(2), 'Rented as #5'), instance: 5, rental: 'r1' },
    { ...entry('3', at(1), 'Set a limit'), instance: 5 },
    { ...entry('2', at(0), 'Renting'), rental: 'r1' },
    { ...entry('1', at(0), 'Renting'), rental: 'r2' },
  ]
  expect(stories(entries).map(story => [story.entry.id, ...story.earlier.map(({ id }) => id)])).toEqual([
    ['7'],
    ['6', '4', '3', '2'],
    ['5'],
    ['1'],
  ])
  // Without its being ready, a rental ends with its last step.
  expect(stories(entries.filter(({ good }) => !good)).map(story => story.entry.id)).toEqual([
    '7',
    '5',
    '4',
    '1',
  ])
})

test('good news is no alarm', () => {
  expect(entryWords({ kind: 'alert', good: true }).word).toBe('Done')
  expect(entryWords({ kind: 'alert' }).word).toBe('Alert')
})
