import type { AccountId } from '#shared/ids.ts'
import type { ActivityEntry } from '#shared/state.ts'

/** The entries since the user last acted; without any, the latest ones. */
export function sinceLastAct(
  activity: Readonly<Record<string, ActivityEntry>>,
  account: AccountId,
  most: number,
): { isNews: boolean; entries: readonly ActivityEntry[] } {
  const newest = Object.values(activity)
    .filter(entry => entry.account === undefined || entry.account === account)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  const acted = newest.findIndex(({ kind }) => kind === 'user')
  const news = acted < 0 ? newest : newest.slice(0, acted)
  return news.length > 0
    ? { isNews: true, entries: news.slice(0, most) }
    : { isNews: false, entries: newest.slice(0, most) }
}
