import type { PriceSample, WatchView } from '#shared/automation/watch.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { SavedSearch } from '#shared/state.ts'

/** A stored search: saved, or watched, with prices over time. */
export interface StoredSearch {
  id: string
  name: string
  search: SavedQuery
  /** The watch that repeats it. */
  watch?: WatchView
}

/** The saved searches, each with the watch of the same search, and the watches without a saved one. */
export function storedSearches(
  saved: Readonly<Record<string, SavedSearch>>,
  watches: Readonly<Record<string, WatchView>>,
): StoredSearch[] {
  const left = new Set(Object.values(watches))
  const rows = Object.values(saved).map(({ id, name, query }): StoredSearch => {
    const watch = [...left].find(({ search }) => sameness(search) === sameness(query))
    if (watch) left.delete(watch)
    return { id, name, search: query, ...(watch ? { watch } : {}) }
  })
  const watched = [...left].map(watch => ({
    id: watch.id,
    name: watch.name,
    search: watch.search,
    watch,
  }))
  return [...rows, ...watched].sort((a, b) => a.name.localeCompare(b.name))
}

/** Identifies a search by all but its limit. */
function sameness({ query: { limit: _, ...query }, filter }: SavedQuery): string {
  const ordered = (of: object) =>
    Object.entries(of)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([ordered(query), ordered(filter)])
}

/** The recent course of a search's lowest price. */
export interface SearchPriceCourse {
  /** Epoch seconds, and micro-dollars per hour; oldest first, the last is now where a price is known. */
  points: readonly { at: number; price: Micros }[]
  /** The change as a share: −0.08 is 8% cheaper. */
  change: number
}

const week = 7 * 86_400

/** The last seven days, as far as they were seen; undefined with fewer than two samples. */
export function courseOf(
  samples: readonly PriceSample[],
  low: Micros | undefined,
  now: number,
): SearchPriceCourse | undefined {
  const prices = samples
    .filter(({ at }) => at >= now - week && at <= now)
    .map(({ at, lowest }) => ({ at, price: lowest }))
  const points = low === undefined ? prices : [...prices, { at: now, price: low }]
  const [first] = points
  const last = points.at(-1)
  if (!first || !last || points.length < 2 || first.price <= 0) return undefined
  return { points, change: (last.price - first.price) / first.price }
}

/** The line of a course and the area below it, in a box; y grows downwards. */
export function drawnCourse(
  { points }: SearchPriceCourse,
  width: number,
  height: number,
): { line: string; area: string } {
  const times = points.map(({ at }) => at)
  const prices = points.map(({ price }) => price)
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  const x = (at: number) => (to === from ? width : ((at - from) / (to - from)) * width)
  // A constant price is a line in the middle.
  const y = (price: number) =>
    high === low ? height / 2 : 2 + ((high - price) / (high - low)) * (height - 4)
  const path = points.map(({ at, price }) => `${round(x(at))} ${round(y(price))}`).join('L')
  return { line: `M${path}`, area: `M${path}L${round(width)} ${height}L${round(x(from))} ${height}Z` }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

const common = ['RTX 3060', 'RTX 3090', 'RTX 4090', 'RTX 5090', 'A100 SXM4', 'H100 SXM']

/** The lowest price of one of each common GPU, as far as there is one, in micro-dollars per hour. */
export function lowestOf(offers: readonly ListedOffer[]): { gpu: string; price: Micros }[] {
  const lowest = new Map<string, Micros>()
  for (const { offer, price } of offers)
    if (offer.gpuName !== undefined && price !== undefined && (offer.gpuCount ?? 1) === 1)
      lowest.set(offer.gpuName, Math.min(price, lowest.get(offer.gpuName) ?? Infinity))
  return common.flatMap(gpu => {
    const price = lowest.get(gpu)
    return price === undefined ? [] : [{ gpu, price }]
  })
}
