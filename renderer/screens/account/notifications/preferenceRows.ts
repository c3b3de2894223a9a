import { wrongIn } from '#renderer/components/fields/readForm.ts'
import { type NotificationPreferences, WebhookFields } from '#shared/account/notifications.ts'

/** One event's channels, as a row of the form. */
export interface PreferenceRow {
  /** `client:low_credit`. */
  event: string
  /** Null leaves the choice to the service. */
  email: boolean | null
  webhooks: boolean | null
}

const channels = ['email', 'webhooks'] as const

/** The event that section 2.8 shows. It always has a row. */
const lowCredit = 'client:low_credit'

/** The rows of the preferences; without preferences, the known event by email. */
export function rowsOfPreferences(preferences: NotificationPreferences | undefined): PreferenceRow[] {
  const rows = Object.entries(preferences ?? {}).flatMap(([audience, events]) =>
    Object.entries(events).map(([name, { email = null, webhooks = null }]) => ({
      event: `${audience}:${name}`,
      email,
      webhooks,
    })),
  )
  if (rows.some(({ event }) => event === lowCredit)) return rows
  return [{ event: lowCredit, email: preferences === undefined, webhooks: false }, ...rows]
}

/** The form's changes to its initial preferences; everything if there were none to read. */
export function changesOf(
  rows: readonly PreferenceRow[],
  before: NotificationPreferences | undefined,
): NotificationPreferences {
  const changes: NotificationPreferences = {}
  const shown = new Map(before && rowsOfPreferences(before).map(row => [row.event, row]))
  for (const row of rows) {
    const was = shown.get(row.event)
    const changed = channels.filter(channel => row[channel] !== was?.[channel])
    if (changed.length === 0) continue
    const [audience = '', ...rest] = row.event.split(':')
    const name = rest.join(':')
    // A new event needs both.
    const sent = before?.[audience]?.[name] ? changed : channels
    const event = Object.fromEntries(sent.map(channel => [channel, row[channel]]))
    changes[audience] = { ...changes[audience], [name]: event }
  }
  return changes
}

/** The field for an event as typed, since the interface does not list them all. */
export const anotherEvent = {
  label: 'Another event',
  hint: 'For example client:low_credit.',
  verb: 'Add',
  name: 'Add event',
  wrong: (event: string) => wrongIn(WebhookFields.entries.events.item, event),
}

/** An event in words; undefined for one that only this service knows. */
export function eventWords(event: string): string | undefined {
  switch (event) {
    case 'client:low_credit':
      return 'The credit runs low'
    case 'client:outbid':
      return 'Someone bids more for one of your instances'
    case 'host:machine_offline':
      return 'A machine that you offer goes offline'
    default:
      return undefined
  }
}
