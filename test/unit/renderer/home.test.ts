import { expect, test } from 'vitest'
import { modelVariables, recipesOf } from '#renderer/screens/home/recipes.ts'
import { courseOf, drawnCourse, storedSearches } from '#renderer/screens/home/searches.ts'
import { sinceLastAct } from '#renderer/screens/home/since.ts'
import type { WatchView } from '#shared/automation/watch.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { TemplateView } from '#shared/market/template.ts'
import type { ActivityEntry } from '#shared/state.ts'

const search = (gpu: string, limit = 10_000): SavedQuery => ({
  query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit },
  filter: { gpus: [gpu] },
})
const watch = (id: string, name: string, of: SavedQuery): WatchView => ({
  id,
  name,
  search: { ...of, order: { column: 'price', descending: false } },
  every: 10,
  paused: false,
  notesPrices: false,
  matching: 0,
  rented: 0,
  renting: false,
})

test('a saved search has its watch, and a watch without one is listed too', () => {
  const rows = storedSearches(
    {
      a: { id: 'a', name: 'Cheap H100', query: search('H100') },
      b: { id: 'b', name: 'A100', query: search('A100') },
    },
    { w1: watch('w1', 'mine', search('H100', 500)), w2: watch('w2', 'L40S', search('L40S')) },
  )
  expect(rows.map(({ name, watch }) => [name, watch?.id])).toEqual([
    ['A100', undefined],
    ['Cheap H100', 'w1'],
    ['L40S', 'w2'],
  ])
})

test('of two watches on one search both are listed', () => {
  const rows = storedSearches(
    { a: { id: 'a', name: 'Cheap H100', query: search('H100') } },
    { w1: watch('w1', 'mine', search('H100')), w2: watch('w2', 'at night', search('H100')) },
  )
  expect(rows.map(({ name, watch }) => [name, watch?.id])).toEqual([
    ['at night', 'w2'],
    ['Cheap H100', 'w1'],
  ])
})

const day = 86_400
const price = (at: number, lowest: number) => ({
  at,
  lowest,
  count: 1,
  low: lowest,
  middle: lowest,
  high: lowest,
})

test('a price course covers seven days up to now, and needs two prices', () => {
  const now = 100 * day
  const course = courseOf(
    [price(now - 9 * day, 1), price(now - 6 * day, 2_000_000), price(now - day, 1_900_000)],
    1_500_000,
    now,
  )
  expect(course).toMatchObject({ change: -0.25 })
  expect(course?.points).toHaveLength(3)
  expect(courseOf([], 1_500_000, now)).toBeUndefined()
  expect(courseOf([price(now - day, 5)], undefined, now)).toBeUndefined()
})

test('the lowest price is drawn lowest, a constant one in the middle', () => {
  const points = [
    { at: 0, price: 20 },
    { at: 10, price: 10 },
  ]
  expect(drawnCourse({ points, change: 0 }, 100, 26).line).toBe('M0 2L100 24')
  expect(drawnCourse({ points: points.map(({ at }) => ({ at, price: 7 })), change: 0 }, 100, 26).line).toBe(
    'M0 13L100 13',
  )
})

const template = (name: string, image: string, more: Partial<TemplateView> = {}): TemplateView => ({
  name,
  image,
  hash: name,
  ...more,
})

test('a recipe is the most used recommended template, and kinds without one are left out', () => {
  const recipes = recipesOf([
    template('vLLM', 'vllm/vllm-openai', { used: 10 }),
    template('Ollama', 'ollama/ollama', { used: 5, recommended: true }),
    template('Lab', 'pytorch/pytorch', { runtype: 'jupyter', used: 1 }),
    template('Plain', 'ubuntu', { runtype: 'ssh', used: 999 }),
  ])
  expect(recipes.map(({ title, template }) => [title, template.name])).toEqual([
    ['Notebook', 'Lab'],
    ['Chat with a model', 'Ollama'],
  ])
})

test('a template takes its model and token by variables, whatever else is about models', () => {
  const of = (env: string) => modelVariables(template('served', 'vllm/vllm-openai', { env }))
  expect(of('-e MODEL_NAME=qwen -e HF_TOKEN= -p 8000:8000')).toEqual({
    model: 'MODEL_NAME',
    token: 'HF_TOKEN',
    value: 'qwen',
  })
  expect(of('-e VLLM_MODEL=a/b -e MODEL_CACHE=/models')).toEqual({ model: 'VLLM_MODEL', value: 'a/b' })
  expect(of('-e MODEL_CACHE=/models')).toBeUndefined()
})

const entry = (id: string, kind: ActivityEntry['kind'], account?: string): ActivityEntry => ({
  id,
  at: 0,
  kind,
  text: id,
  ...(account === undefined ? {} : { account }),
})
const ids = (entries: readonly ActivityEntry[]) => entries.map(({ id }) => id).join(' ')
const activity = (...entries: ActivityEntry[]) => Object.fromEntries(entries.map(one => [one.id, one]))

test('news are the events since the user’s last action on this account', () => {
  const all = activity(
    entry('1', 'alert', 'a'),
    entry('2', 'user', 'a'),
    entry('3', 'berth', 'a'),
    entry('4', 'user', 'b'),
    entry('5', 'alert'),
  )
  const news = sinceLastAct(all, 'a', 5)
  expect([news.isNews, ids(news.entries)]).toEqual([true, '5 3'])
})

test('without news the latest event is shown', () => {
  const last = sinceLastAct(activity(entry('1', 'alert', 'a'), entry('2', 'user', 'a')), 'a', 1)
  expect([last.isNews, ids(last.entries)]).toEqual([false, '2'])
})
