import { KeptOrder } from '#renderer/bridge/listOrder.svelte.ts'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { AccountId } from '#shared/ids.ts'
import type { TemplateFilter, TemplateView } from '#shared/market/template.ts'
import type { Problem } from '#shared/problem.ts'
import {
  sorted,
  type TemplateColumn,
  type TemplateOwner,
  type TemplateSort,
  templateColumns,
  templateSortAfterClick,
  whoseOnly,
  withText,
} from './listing.ts'
import type { TemplateDraft } from './templateForm.ts'

/** An editor's input, its first state, and its template. */
export interface Unsaved {
  key: string
  draft: TemplateDraft
  before: TemplateDraft
}

/** The state of the Templates screen, kept while other screens are shown. */
export class TemplatesView {
  /** The query sent to the service. */
  filters: readonly TemplateFilter[] = $state.raw([])
  whose: TemplateOwner = $state('all')
  text = $state('')
  loading = $state(false)
  problem: Problem | undefined = $state.raw()
  #found: { account: AccountId; templates: readonly TemplateView[] } | undefined = $state.raw()
  /** New hashes by the ones that an edit replaced. */
  readonly #followed = new Map<string, string>()
  /** The editor that the user left without saving. */
  #unsaved: Unsaved | undefined
  readonly #page: Page
  readonly #order: KeptOrder<TemplateSort>
  #search = 0

  constructor(page: Page) {
    this.#page = page
    this.#order = new KeptOrder(page, 'templates', templateColumns)
  }

  /** The service's answer for the account shown. */
  get found(): readonly TemplateView[] | undefined {
    return this.#found?.account === this.#page.account?.id ? this.#found?.templates : undefined
  }
  get sortBy(): TemplateSort {
    return this.#order.by ?? { column: 'used', descending: true }
  }
  sort(column: TemplateColumn): void {
    this.#order.by = templateSortAfterClick(this.sortBy, column)
  }
  get shown(): TemplateView[] {
    return sorted(withText(whoseOnly(this.found ?? [], this.whose), this.text), this.sortBy)
  }

  /** Queries the service again; the answer to the latest query is shown. */
  async refresh(): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return
    const search = ++this.#search
    this.loading = true
    this.problem = undefined
    try {
      const templates = await this.#page.berth.searchTemplates({ account, filters: [...this.filters] })
      if (search === this.#search) this.#found = { account, templates }
    } catch (error) {
      if (search === this.#search) this.problem = answerProblem(error)
    } finally {
      if (search === this.#search) this.loading = false
    }
  }

  ask(filters: readonly TemplateFilter[]): Promise<void> {
    this.filters = filters
    return this.refresh()
  }

  /**
   * The template with this hash, or what it has become by edits made here. Asks the service where it is not listed;
   * rejects with its refusal.
   */
  async find(hash: string): Promise<TemplateView | undefined> {
    const now = this.followed(hash)
    return this.found?.find(each => each.hash === now) ?? (await this.#ask('hash_id', now))
  }

  async findById(id: number | undefined): Promise<TemplateView | undefined> {
    return id === undefined ? undefined : this.#ask('id', id)
  }

  keepUnsaved(unsaved: Unsaved): void {
    this.#unsaved = unsaved
  }

  /** The unsaved input for the same template. */
  takeUnsaved(key: string): Unsaved | undefined {
    const unsaved = this.#unsaved?.key === key ? this.#unsaved : undefined
    if (unsaved) this.#unsaved = undefined
    return unsaved
  }

  followed(hash: string): string {
    let now = hash
    for (let next = this.#followed.get(now); next !== undefined; next = this.#followed.get(now)) now = next
    return now
  }

  /** Notes that an edit gave a template another hash. */
  follow(from: string, to: string): void {
    if (from !== to) this.#followed.set(from, to)
  }

  async remove(template: TemplateView): Promise<void> {
    const account = this.#page.account?.id
    if (template.id === undefined) return
    await this.#page.berth.deleteTemplate({ account, id: template.id })
    if (this.#found)
      this.#found = {
        ...this.#found,
        templates: this.#found.templates.filter(each => each.id !== template.id),
      }
  }

  async #ask(field: 'hash_id' | 'id', value: string | number): Promise<TemplateView | undefined> {
    const account = this.#page.account?.id
    const matches = await this.#page.berth.searchTemplates({
      account,
      filters: [{ field, condition: { operator: 'eq', value } }],
    })
    return matches.find(each => (field === 'id' ? each.id : each.hash) === value)
  }
}

const views = new WeakMap<Page, TemplatesView>()

/** The page's one view of the templates. */
export function templatesView(page: Page): TemplatesView {
  const view = views.get(page) ?? new TemplatesView(page)
  views.set(page, view)
  return view
}
