import { SvelteMap } from 'svelte/reactivity'
import type { DetailsTab } from '../../../../electron/contract/app/settings.ts'
import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import { canGetIn } from '../../../../electron/contract/reading.ts'
import type { Page } from '../../../berth/page.svelte.ts'
import { sessions } from '../terminal/sessions.svelte.ts'

/** By account and instance, while the page lives. */
const chosen = new SvelteMap<string, DetailsTab>()
const keyOf = (page: Page, instance: number) => `${page.state?.shown} ${instance}`

/**
 * The tab with which the details of an instance open: the one chosen there last, else the shell that is there, else the
 * one chosen last anywhere. A terminal is not opened where nothing can be entered.
 */
export function tabFor(page: Page, instance: InstanceView): DetailsTab {
  const here = chosen.get(keyOf(page, instance.id))
  if (here) return here
  if (sessions.find(page.state?.shown ?? '', instance.id)) return 'terminal'
  const last = page.state?.settings.detailsTab ?? 'details'
  return last === 'terminal' && !canGetIn(instance) ? 'details' : last
}

/** Also for the next start, and for what is not opened yet. */
export function rememberTab(page: Page, instance: number, detailsTab: DetailsTab): void {
  chosen.set(keyOf(page, instance), detailsTab)
  if (page.state?.settings.detailsTab === detailsTab) return
  // What cannot be kept is asked for again next time.
  page.berth.changeSettings({ settings: { detailsTab } }).catch(() => undefined)
}
