import type { NotificationPreferences } from '../../../../electron/contract/account/notifications.ts'

/** One event's channels, as a row of the form. */
export interface PreferenceRow {
  /** `client:low_credit`. */
  event: string
  /** Null leaves the choice to the service. */
  email: boolean | null
  webhooks: boolean | null
}

/** The event that section 2.8 shows. It always has a row. */
const known = 'client:low_credit'

/** The rows of the preferences; without preferences, the known event by e-mail. */
export function rowsOf(preferences: NotificationPreferences | undefined): PreferenceRow[] {
  const rows = Object.entries(preferences ?? {}).flatMap(([audience, events]) =>
    Object.entries(events).map(([name, { email = null, webhooks = null }]) => ({
      event: `${audience}:${name}`,
      email,
      webhooks,
    })),
  )
  if (rows.some(({ event }) => event === known)) return rows
  return [{ event: known, email: preferences === undefined, webhooks: false }, ...rows]
}

/** All preferences of the form, since saving replaces the whole set. */
export function preferencesOf(rows: readonly PreferenceRow[]): NotificationPreferences {
  const preferences: NotificationPreferences = {}
  for (const { event, email, webhooks } of rows) {
    const [audience = '', ...name] = event.split(':')
    preferences[audience] = { ...preferences[audience], [name.join(':')]: { email, webhooks } }
  }
  return preferences
}
