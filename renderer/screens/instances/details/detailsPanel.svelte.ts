import { SvelteMap } from 'svelte/reactivity'
import type { InstanceView } from '#contract/instance/instance.ts'
import { canGetIn } from '#contract/reading.ts'
import { type DetailsTab, detailsTabs } from '#contract/settings.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { sessions } from '../terminal/sessions.svelte.ts'

/** Height in pixels below which a window has no room for both the table and the panel. */
const smallWindow = 600

/** The size of the panel with an instance's details. */
export class DetailsPanel {
  readonly least = 120
  readonly #page: Page
  /** Height in pixels that the user chose since the panel was opened. */
  #given: number | undefined = $state()
  /** Whether the user maximised it, in a window that has room for both. */
  #wide = $state(false)
  /** Height of the window in pixels. */
  room = $state(window.innerHeight)
  readonly most = $derived.by(() => Math.max(140, this.room - 300))
  /** Whether the window is so small that the panel covers the screen. */
  readonly small = $derived.by(() => this.room < smallWindow)
  readonly isMaximised = $derived.by(() => this.small || this.#wide)
  readonly height = $derived.by(() => {
    const height = this.#given ?? (this.#page.state?.settings.detailsHeight || usual)
    return Math.max(this.least, Math.min(height, this.most))
  })

  constructor(page: Page) {
    this.#page = page
  }

  maximise(wide: boolean): void {
    this.#wide = wide
  }

  resize(height: number): void {
    this.#given = height
  }

  keepHeight(): void {
    const detailsHeight = Math.round(this.height)
    if (this.#given !== undefined && detailsHeight !== this.#page.state?.settings.detailsHeight)
      void this.#page.attempt(this.#page.berth.changeSettings({ settings: { detailsHeight } }))
  }
}

/** The default height, which has room for a screenful of a shell. */
const usual = Math.max(232, Math.round(window.innerHeight * 0.55))

/** The tabs' labels. */
export const tabWords: Record<DetailsTab, string> = {
  terminal: 'Terminal',
  files: 'Files',
  monitor: 'Monitor',
  automation: 'Automation',
  details: 'Details',
}

/** Sections with their own address, and their tabs. */
const sections: Readonly<Record<string, DetailsTab>> = {
  limits: 'automation',
  watchdog: 'automation',
  run: 'automation',
  'run-stop': 'automation',
  runs: 'automation',
  outbid: 'automation',
  ports: 'details',
  logs: 'details',
  history: 'details',
}

/** Reads the last part of an address, which names a tab, or a section of one. */
export function placeInDetails(name = ''): { tab?: DetailsTab; section?: string } {
  const tab = detailsTabs.find(id => id === name)
  if (tab) return { tab }
  const of = sections[name]
  return of ? { tab: of, section: name } : {}
}

/** Tabs chosen since the page was loaded, by account and instance. */
const chosen = new SvelteMap<string, DetailsTab>()
const keyOf = (page: Page, instance: number) => `${page.state?.shown} ${instance}`

/**
 * The tab that an instance's details open with: the one chosen there last, else the terminal if it has a shell, else
 * the one chosen last anywhere, except the terminal of an instance that cannot be entered.
 */
export function tabFor(page: Page, instance: InstanceView): DetailsTab {
  const here = chosen.get(keyOf(page, instance.id))
  if (here) return here
  if (sessions.find(page.state?.shown ?? '', instance.id)) return 'terminal'
  const last = page.state?.settings.detailsTab ?? 'details'
  return last === 'terminal' && !canGetIn(instance) ? 'details' : last
}

/** Remembers a chosen tab for the instance, and as the default of others and after a restart. */
export function rememberTab(page: Page, instance: number, detailsTab: DetailsTab): void {
  chosen.set(keyOf(page, instance), detailsTab)
  if (page.state?.settings.detailsTab === detailsTab) return
  // A failure is ignored: the next choice is saved again.
  page.berth.changeSettings({ settings: { detailsTab } }).catch(() => undefined)
}
