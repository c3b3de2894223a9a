import { type DetailsTab, detailsTabs } from '#contract/settings.ts'

/** The tabs' labels. */
export const tabWords: Record<DetailsTab, string> = {
  terminal: 'Terminal',
  files: 'Files',
  monitor: 'Monitor',
  automation: 'Automation',
  details: 'Details',
}

/** Sections that have an address of their own, with the tabs that they belong to. */
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
