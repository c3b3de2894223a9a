import type { Settings, SettingsChange } from '#contract/app/settings.ts'

/** The present values of the settings that a change contains; within a group, too. */
export function partBefore(settings: Settings, change: SettingsChange): SettingsChange {
  return partOf(settings, change)
}

function partOf(whole: object, part: object): object {
  const values = new Map(Object.entries(whole))
  const before = Object.entries(part).map(([name, to]) => {
    const now: unknown = values.get(name)
    return [name, isGroup(now) && isGroup(to) ? partOf(now, to) : now]
  })
  return Object.fromEntries(before)
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
