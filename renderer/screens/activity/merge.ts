import type { ActivityEntry } from '../../../electron/contract/state.ts'

/** Fetched pages and the newest entries of State as one list, newest first, each once. */
export function merged(
  fetched: readonly ActivityEntry[],
  newest: Iterable<ActivityEntry>,
): readonly ActivityEntry[] {
  const byId = new Map<string, ActivityEntry>()
  for (const entry of fetched) byId.set(entry.id, entry)
  for (const entry of newest) byId.set(entry.id, entry)
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0))
}

/** Whether an entry is what the search is after: every word in its text or detail, or its instance's number. */
export function answersSearch(entry: ActivityEntry, text: string): boolean {
  const hay = `${entry.text} ${entry.detail ?? ''} ${entry.instance ?? ''}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => hay.includes(word))
}
