import type { ActivityEntry } from '#contract/state.ts'

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
