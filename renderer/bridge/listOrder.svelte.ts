import type { ListOrder, Settings } from '#shared/settings.ts'
import type { Page } from './page.svelte.ts'

/** What a list is ordered by: as clicked on the page, else as before it was loaded. */
export class KeptOrder<Order extends ListOrder> {
  #clicked: Order | null | undefined = $state.raw()
  readonly #page: Page
  readonly #list: keyof Settings['orders']
  readonly #columns: readonly Order['column'][]

  /** `columns`: those that the list has, since an earlier version may have had others. */
  constructor(page: Page, list: keyof Settings['orders'], columns: readonly Order['column'][]) {
    this.#page = page
    this.#list = list
    this.#columns = columns
  }

  /** Undefined for the list's own order. */
  get by(): Order | undefined {
    if (this.#clicked !== undefined) return this.#clicked ?? undefined
    const kept = this.#page.state?.settings.orders[this.#list]
    return kept && this.#columns.includes(kept.column) ? (kept as Order) : undefined
  }

  set by(order: Order | undefined) {
    this.#clicked = order ?? null
    const settings = { orders: { [this.#list]: this.#clicked } }
    void this.#page.berth.changeSettings({ settings }).catch(() => undefined)
  }
}
