import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { IconName } from '#renderer/components/icons.ts'
import { dayTitle, isoDay } from '#shared/format/time.ts'
import type { Problem } from '#shared/problem.ts'
import type { ActivityEntry } from '#shared/state.ts'
import { type Story, stories } from './stories.ts'

/** Entries fetched at once. */
const pageLength = 100
/** Milliseconds after the last key before a search is sent. */
const pause = 150

/** The state of the Activity screen: the fetched pages and the newest entries. */
export class ActivityView {
  text = $state('')
  kind: ActivityKind | 'all' = $state('all')
  /** An instance's id, or empty for all. */
  instance = $state('')
  loading = $state(false)
  /** False once the oldest entry is here. */
  more = $state(true)
  problem: Problem | undefined = $state.raw()
  #fetched: readonly ActivityEntry[] = $state.raw([])
  readonly #page: Page
  #search = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(page: Page) {
    this.#page = page
  }

  readonly found = $derived.by(() => {
    const newest = Object.values(this.#page.state?.activity ?? {})
    return mergedEntries(
      this.#fetched,
      newest.filter(entry => answersSearch(entry, this.text)),
    )
  })
  readonly #stories = $derived(stories(this.found))
  readonly shown = $derived(
    this.#stories.filter(({ entry, earlier }) => {
      const all = [entry, ...earlier]
      const isKind = this.kind === 'all' || all.some(({ kind }) => kind === this.kind)
      return (
        isKind && (this.instance === '' || all.some(({ instance }) => String(instance) === this.instance))
      )
    }),
  )

  /** Searches again, a moment after the last key. */
  find(text: string): void {
    this.text = text
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.restart(), pause)
  }

  /** Drops the fetched pages and begins again with the newest. */
  restart(): Promise<void> {
    clearTimeout(this.#timer)
    this.#fetched = []
    this.more = true
    return this.#fetch(++this.#search)
  }

  /** Fetches the next older page. */
  older(): Promise<void> {
    return this.loading || !this.more ? Promise.resolve() : this.#fetch(this.#search)
  }

  async #fetch(search: number): Promise<void> {
    this.loading = true
    this.problem = undefined
    const before = this.#fetched.at(-1)?.id
    try {
      const entries = await this.#page.berth.searchActivity({
        text: this.text.trim().slice(0, 200),
        before,
        limit: pageLength,
      })
      if (search !== this.#search) return
      this.#fetched = [...this.#fetched, ...entries]
      this.more = entries.length === pageLength
    } catch (error) {
      if (search === this.#search) this.problem = answerProblem(error)
    } finally {
      if (search === this.#search) this.loading = false
    }
  }
}

const views = new WeakMap<Page, ActivityView>()

/** A view for the screen that is opened, with the search of the one before: what that derived ended with its screen. */
export function activityView(page: Page): ActivityView {
  const view = new ActivityView(page)
  const before = views.get(page)
  if (before) Object.assign(view, { text: before.text, kind: before.kind, instance: before.instance })
  views.set(page, view)
  return view
}

/** Fetched pages and the newest entries of State as one list, newest first, each once. */
export function mergedEntries(
  fetched: readonly ActivityEntry[],
  newest: Iterable<ActivityEntry>,
): readonly ActivityEntry[] {
  const byId = new Map<string, ActivityEntry>()
  for (const entry of fetched) byId.set(entry.id, entry)
  for (const entry of newest) byId.set(entry.id, entry)
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0))
}

/** Whether an entry's text, detail or instance number contains the search text. */
export function answersSearch(entry: ActivityEntry, text: string): boolean {
  const instance = entry.instance === undefined ? '' : `#${entry.instance}`
  return `${entry.text} ${entry.detail ?? ''} ${instance}`.toLowerCase().includes(text.trim().toLowerCase())
}

interface Day {
  /** `2026-11-21`, local. */
  key: string
  title: string
  stories: Story[]
}

/**
 * Stories by the local day of their newest entry, in the order given (newest first).
 * @param now epoch milliseconds, for *Today* and *Yesterday*
 */
export function byDay(stories: readonly Story[], now: number): Day[] {
  const days: Day[] = []
  for (const story of stories) {
    const date = new Date(story.entry.at)
    const key = isoDay(date)
    const last = days.at(-1)
    if (last?.key === key) last.stories.push(story)
    else days.push({ key, title: dayTitle(date, new Date(now)), stories: [story] })
  }
  return days
}

type ActivityKind = ActivityEntry['kind']

/** Each kind as a word and a shape. */
const kindWords: Record<ActivityKind, { word: string; icon: IconName }> = {
  user: { word: 'You', icon: 'account' },
  berth: { word: 'Berth', icon: 'berth' },
  alert: { word: 'Alert', icon: 'bolt' },
  error: { word: 'Error', icon: 'warning' },
}

/** An entry's icon and word; good news is no alarm. */
export function entryWords({ kind, good }: Pick<ActivityEntry, 'kind' | 'good'>): {
  word: string
  icon: IconName
} {
  return good ? { word: 'Done', icon: 'check' } : kindWords[kind]
}
