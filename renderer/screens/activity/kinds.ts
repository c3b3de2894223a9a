import type { ActivityEntry } from '#contract/state.ts'
import type { IconName } from '#renderer/components/icons.ts'

export type ActivityKind = ActivityEntry['kind']

/** Each kind as a word and a shape. */
const kindWords: Record<ActivityKind, { word: string; icon: IconName }> = {
  user: { word: 'You', icon: 'account' },
  berth: { word: 'Berth', icon: 'berth' },
  alert: { word: 'Alert', icon: 'bolt' },
  error: { word: 'Error', icon: 'warning' },
}

/** What marks an entry; good news is no alarm. */
export function wordsOf({ kind, good }: Pick<ActivityEntry, 'kind' | 'good'>): {
  word: string
  icon: IconName
} {
  return good ? { word: 'Done', icon: 'check' } : kindWords[kind]
}
