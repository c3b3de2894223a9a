import type { Settings } from '../../../electron/contract/app/settings.ts'

/** The part of some settings that a change is about, as it is now. */
export function partBefore(settings: Settings, change: Partial<Settings>): Partial<Settings> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name in change))
}
