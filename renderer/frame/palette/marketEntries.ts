import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import { marketOf } from '#renderer/features/market/market.svelte.ts'
import { usualQuery } from '#renderer/features/market/rentDefaults.ts'
import { cheapestFirst, seenPricesOf } from '#renderer/features/market/seenPrices.svelte.ts'
import { withText } from '#renderer/features/templates/listing.ts'
import { pathOf } from '#renderer/features/templates/place.ts'
import { templatesView } from '#renderer/features/templates/templatesView.svelte.ts'
import { rate } from '#shared/format/money.ts'
import { counted } from '#shared/format/size.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import type { OfferFilter } from '#shared/market/offer-query.ts'
import { readSearch } from '#shared/market/search-text.ts'
import type { Entry } from './entries.ts'
import { match } from './match.ts'

/** Offers, saved searches and templates that match the typed words, from the last answers. None of them rents. */
export function marketEntries(page: Page, typed: string): Entry[] {
  const text = typed.trim().replace(/^(?:rent|find|search)\s+/i, '')
  if (text.length < 2 || !page.account) return []
  return [...offerEntries(page, text), ...savedSearchEntries(page, text), ...templateEntries(page, text)]
}

/** Asks for what the entries are made of, where no screen has asked of late. */
export function askMarket(page: Page): void {
  void seenPricesOf(page).search(usualQuery(page.account))
  const templates = templatesView(page)
  if (page.account && !templates.found && !templates.loading) void templates.refresh()
}

function offerEntries(page: Page, text: string): Entry[] {
  const query = usualQuery(page.account)
  const answered = seenPricesOf(page).seen(query)
  const { filter: bounds, words } = readSearch(text)
  const isBounded = Object.keys(bounds).length > 0 || words.some(word => /^\d+gb$/.test(word))
  // Only names of GPUs and figures are searched for: "settings" leads to Settings.
  const isNamed = (answered?.offers ?? []).some(
    ({ offer }) => match(offer.gpuName ?? '', firstWord(text)) !== undefined,
  )
  if (!isNamed && !isBounded) return []
  const { standing } = marketOf(page)
  const matching = cheapestFirst(offersPassing(answered?.offers ?? [], { ...standing, text }))
  if (matching.length === 0 && !(answered && isBounded)) return []
  const open = (filter: OfferFilter, place = 'offers') => {
    route.go(place)
    void marketOf(page).open({ query, filter: { ...standing, ...filter } })
  }
  const all = [...new Set(matching.flatMap(({ offer }) => offer.gpuName ?? []))]
  // A single model is the whole search already.
  const models = all.length > 1 ? all.slice(0, 3) : []
  return [
    {
      key: 'offers',
      group: 'Offers',
      mark: { icon: 'offers' },
      label: `Search offers: ${text}${from(matching)}`,
      detail: matching.length === 0 ? 'no offers now' : counted(matching.length, 'offer'),
      run: () => open({ text }),
    },
    ...models.map((model): Entry => {
      const own = matching.filter(({ offer }) => offer.gpuName === model)
      return {
        key: `offers-${model}`,
        group: 'Offers',
        mark: { icon: 'offers' },
        label: `${model}${from(own)}`,
        detail: counted(own.length, 'offer'),
        run: () => open({ gpus: [model] }),
      }
    }),
    {
      key: 'offers-watch',
      group: 'Actions',
      mark: { icon: 'bookmark' },
      label: `Alert me when ${text} gets cheaper…`,
      run: () => open({ text }, 'offers/watch'),
    },
    {
      key: 'offers-retries',
      group: 'Actions',
      mark: { icon: 'transfers' },
      label: `Rent ${text} with retries…`,
      run: () => open({ text }, 'offers/retries'),
    },
  ]
}

function firstWord(text: string): string {
  return text.split(/\s+/)[0] ?? text
}

function from([cheapest]: readonly ListedOffer[]): string {
  return cheapest?.price === undefined ? '' : ` from ${rate(cheapest.price)}`
}

function savedSearchEntries(page: Page, text: string): Entry[] {
  return Object.values(page.state?.savedSearches ?? {})
    .filter(({ name }) => match(name, text) !== undefined)
    .slice(0, 4)
    .map(({ id, name, query }): Entry => {
      const matching = seenPricesOf(page).matching(query)
      return {
        key: `saved-${id}`,
        group: 'Saved searches',
        mark: { icon: 'bookmark' },
        label: name,
        detail: matching && counted(matching.length, 'offer'),
        side: matching?.[0]?.price === undefined ? undefined : `low ${rate(matching[0].price)}`,
        run: () => {
          route.go('offers')
          void marketOf(page).open(query)
        },
      }
    })
}

function templateEntries(page: Page, text: string): Entry[] {
  return withText(templatesView(page).found ?? [], text)
    .slice(0, 3)
    .map(({ name, hash, image }) => ({
      key: `template-${hash}`,
      group: 'Templates',
      mark: { icon: 'templates' },
      label: name,
      detail: image,
      run: () => route.go(`templates/${pathOf({ kind: 'details', hash })}`),
    }))
}
