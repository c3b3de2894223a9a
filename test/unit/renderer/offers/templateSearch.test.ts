import { expect, test } from 'vitest'
import { templateSearch, withoutTemplate } from '#renderer/features/market/market.svelte.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { TemplateView } from '#shared/market/template.ts'

const template = {
  hash: 'abc',
  name: 'vLLM',
  disk: 64,
  extraFilters: { num_gpus: { gte: 2 }, verified: { eq: false }, gpu_ram: { gte: 12_000 } },
} as unknown as TemplateView
const before: SavedQuery = {
  query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 10_000 },
  filter: { priceTo: 3 },
}
const chosen = templateSearch(before, template)

test('dismissing a template clears the values it filled in', () => {
  expect(chosen.made).toMatchObject({
    filter: { countFrom: 2 },
    query: { storage: 64, extra: { gpu_ram: { gte: 12_000 } } },
  })
  expect(withoutTemplate(chosen.made, chosen)).toEqual(before)
})

test('a template leaves the user’s filters, and the stricter of two bounds holds', () => {
  const filter = { reliabilityFrom: 0.98, countFrom: 1, priceTo: 3, text: '4090' }
  const { made } = templateSearch({ ...before, filter }, template)
  expect(made.filter).toEqual({ ...filter, countFrom: 2 })
  expect(made.query.verifiedOnly).toBe(true)
  const loose = { ...template, extraFilters: { reliability: { gte: 0.9 }, num_gpus: { gte: 1 } } }
  expect(templateSearch({ ...before, filter }, loose).made.filter).toEqual(filter)
})

test('later changes stay', () => {
  const { query, filter } = chosen.made
  const now = { query: { ...query, storage: 100 }, filter: { ...filter, regions: ['SE'] } }
  expect(withoutTemplate(now, chosen)).toEqual({
    query: { ...before.query, storage: 100 },
    filter: { ...before.filter, regions: ['SE'] },
  })
  // Conditions dropped by hand are not needed.
  const { extra: _, ...dropped } = query
  expect(withoutTemplate({ query: dropped, filter }, chosen)).toEqual(before)
})
