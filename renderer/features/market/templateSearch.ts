import type { SavedQuery } from '#contract/market/offer.ts'
import type { TemplateView } from '#contract/market/template.ts'
import { readExtraFilters } from '../templates/extraFilters.ts'

/** What a template made of a search. */
export interface TemplateSearch {
  before: SavedQuery
  made: SavedQuery
  /** Fields of its machine filters that nobody understands. */
  unread: readonly string[]
}

/** A template's machine filters take the place of the filter; its disk is what prices include. */
export function templateSearch(before: SavedQuery, template: TemplateView): TemplateSearch {
  const { filter, extra, verifiedOnly, unread } = readExtraFilters(template.extraFilters ?? {})
  const { disk } = template
  const query = {
    ...before.query,
    ...(disk !== undefined && disk > 0 && { storage: Math.min(disk, 100_000) }),
    ...(verifiedOnly !== undefined && { verifiedOnly }),
    extra,
  }
  return { before, made: { query, filter }, unread }
}

/** The search without the template's values; later changes stay. */
export function withoutTemplate(now: SavedQuery, { before, made }: TemplateSearch): SavedQuery {
  const { extra = {}, ...query } = takenBack({ extra: {}, ...now.query }, made.query, before.query)
  return {
    query: Object.keys(extra).length > 0 ? { ...query, extra } : query,
    filter: takenBack(now.filter, made.filter, before.filter),
  }
}

/** The present search, with the fields that the template set and nobody changed put back. */
function takenBack<T extends object>(now: T, made: T, before: T): T {
  const same = (key: keyof T) => JSON.stringify(now[key]) === JSON.stringify(made[key])
  const keys = [...new Set([...Object.keys(now), ...Object.keys(before)])] as (keyof T)[]
  const entries = keys.map(key => [key, same(key) ? before[key] : now[key]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T
}
