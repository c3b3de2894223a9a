import type { ActivityEntry } from '../../../electron/contract/state.ts'

export type ActivityKind = ActivityEntry['kind']

/** The word for each kind, and for all of them in a filter. */
export const kindWords: Record<ActivityKind, { word: string; plural: string }> = {
  user: { word: 'You', plural: 'Yours' },
  berth: { word: 'Berth', plural: 'Berth’s' },
  alert: { word: 'Alert', plural: 'Alerts' },
  error: { word: 'Error', plural: 'Errors' },
}
