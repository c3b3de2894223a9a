import { SvelteMap } from 'svelte/reactivity'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { type DetailsTab, detailsTabs } from '#shared/settings.ts'
import { sessions } from '../terminal/sessions.svelte.ts'

/** The tabs' labels. */
export const tabWords: Record<DetailsTab, string> = {
  terminal: 'Terminal',
  files: 'Files',
  monitor: 'Monitor',
  automation: 'Limits',
  details: 'Details',
}

/** Sections with their own address, and their tabs. */
const sections: Readonly<Record<string, DetailsTab>> = {
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
  // Limits are what their tab begins with, so nothing is scrolled to.
  const tab = name === 'limits' ? 'automation' : detailsTabs.find(id => id === name)
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
