import type { ApiKeyView, NewApiKey } from '#contract/account/api-key.ts'
import type { ApiKey, CreatedApiKey as CreatedKey } from '#service/api-keys.ts'

/** Characters of a secret that are shown. */
const shown = 4

/** A listed key, its secret cut to the last characters even where the service shows more. */
export function keyView(key: ApiKey): ApiKeyView {
  return {
    id: key.id,
    name: key.name,
    masked: key.key ? `…${key.key.slice(-shown)}` : undefined,
    userId: key.user_id,
    rights: key.rights,
    teamId: key.team_id,
    teamName: key.team_name,
    permissions: key.permissions && categories(key.permissions),
  }
}

/** All listed keys; Berth's own is marked where its last characters are unique. */
export function keyViews(keys: readonly ApiKey[], own: string | undefined): ApiKeyView[] {
  const views = keys.map(keyView)
  if (own === undefined) return views
  const alike = keys.filter(({ key }) => key !== undefined && endsAlike(key, own))
  const only = alike.length === 1 ? alike[0]?.id : undefined
  return views.map(view => (view.id === only ? { ...view, inUse: true } : view))
}

/** Whether a listed key, masked or whole, may be Berth's own. */
function endsAlike(listed: string, own: string): boolean {
  return listed === own || (listed.length >= shown && listed.slice(-shown) === own.slice(-shown))
}

/** A new key, with its secret. */
export function newKey({ id, key, permissions }: CreatedKey): NewApiKey {
  return { id, secret: key, permissions: permissions ? categories(permissions) : false }
}

/** Section 5.3 nests them in `api`; some deployments may leave that out. */
function categories(permissions: Record<string, unknown>): Record<string, unknown> {
  const api = permissions['api']
  return typeof api === 'object' && api !== null && !Array.isArray(api)
    ? (api as Record<string, unknown>)
    : permissions
}
