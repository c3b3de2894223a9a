import { wrongIn } from '#renderer/components/fields/readForm.ts'
import { WebhookFields, type WebhookView } from '#shared/account/notifications.ts'

/** The input of a webhook's form. */
export interface WebhookDraft {
  name: string
  url: string
  events: string[]
}

export function webhookDraft(webhook: WebhookView | undefined): WebhookDraft {
  return { name: webhook?.name ?? '', url: webhook?.url ?? '', events: [...(webhook?.events ?? [])] }
}

type Errors = Partial<Record<keyof WebhookFields, string>>

/** A new webhook's fields or errors: it needs an address and an event. */
export function readNewWebhook(draft: WebhookDraft): { fields: WebhookFields } | { errors: Errors } {
  const errors = wrongFields(draft)
  if (draft.name.trim() === '') delete errors.name
  if (draft.events.length === 0) errors.events = 'Choose at least one event.'
  return hasAny(errors) ? { errors } : { fields: trimmed(draft) }
}

/**
 * The changes to a webhook: with `before`, the fields that differ; without, those that are filled in, since the rest
 * keeps its value (section 4.1).
 */
export function readWebhookChanges(
  draft: WebhookDraft,
  before: WebhookView | undefined,
): { changes: Partial<WebhookFields> } | { errors: Errors } {
  const after = trimmed(draft)
  const changes: Partial<WebhookFields> = {}
  if (after.name !== undefined ? after.name !== before?.name : before?.name !== undefined)
    changes.name = after.name ?? ''
  if (before ? after.url !== before.url : after.url !== '') changes.url = after.url
  if (before ? after.events.join() !== before.events.join() : after.events.length > 0)
    changes.events = after.events
  const all = wrongFields(draft)
  const errors = Object.fromEntries(Object.entries(all).filter(([field]) => field in changes)) as Errors
  return hasAny(errors) ? { errors } : { changes }
}

function wrongFields({ name, url }: WebhookDraft): Errors {
  const wrongName = wrongIn(WebhookFields.entries.name, name)
  const wrongUrl = wrongIn(WebhookFields.entries.url, url)
  return { ...(wrongName ? { name: wrongName } : {}), ...(wrongUrl ? { url: wrongUrl } : {}) }
}

function hasAny(errors: Errors): boolean {
  return Object.keys(errors).length > 0
}

function trimmed({ name, url, events }: WebhookDraft): WebhookFields {
  const named = name.trim()
  return { ...(named ? { name: named } : {}), url: url.trim(), events: [...events] }
}
