import * as v from 'valibot'
import { wrongIn } from '#renderer/components/fields/readForm.ts'
import { ApiKeyRequest } from '#shared/account/api-key.ts'
import { describedCapabilities } from '#shared/account/capabilities.ts'

/** The input of the form for a new key. */
export interface KeyDraft {
  name: string
  scope: 'chosen' | 'full'
  categories: { name: string; on: boolean; constraints: string }[]
  /** JSON, or empty. */
  params: string
}

export function emptyKeyDraft({ permissions } = describedCapabilities): KeyDraft {
  return {
    name: '',
    scope: 'chosen',
    categories: permissions.map(name => ({ name, on: false, constraints: '' })),
    params: '',
  }
}

/** The categories of a read-only key. */
export const readOnlyPermissions: readonly string[] = [
  'misc',
  'user_read',
  'instance_read',
  'machine_read',
  'billing_read',
  'team_read',
]

/** The request, or the errors by field: `name`, `permissions`, `constraints.<category>`, `params`. */
export function readKeyDraft(
  draft: KeyDraft,
): { request: ApiKeyRequest } | { errors: Record<string, string> } {
  const errors: Record<string, string> = {}
  const wrongName = wrongIn(ApiKeyRequest.entries.name, draft.name)
  if (wrongName) errors['name'] = wrongName

  const permissions: Record<string, Record<string, unknown>> = {}
  const chosen = draft.scope === 'chosen' ? draft.categories.filter(({ on }) => on) : []
  for (const { name, constraints } of chosen) {
    const object = readObject(constraints)
    if (object) permissions[name] = object
    else errors[`constraints.${name}`] = wrongJson
  }
  if (draft.scope === 'chosen' && chosen.length === 0)
    errors['permissions'] = 'Choose at least one permission, or full access.'

  const params = readObject(draft.params)
  if (!params) errors['params'] = wrongJson
  if (Object.keys(errors).length > 0) return { errors }

  const request = v.parse(ApiKeyRequest, {
    name: draft.name,
    permissions: draft.scope === 'chosen' ? permissions : undefined,
    keyParams: params && Object.keys(params).length > 0 ? params : undefined,
  })
  return { request }
}

const wrongJson = 'This must be a JSON object, such as {"limit": 3}.'

/** Parses a JSON object; `{}` for an empty text, undefined for anything else. */
function readObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
