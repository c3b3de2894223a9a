/** The most characters of the service's own words in an error. */
const LONGEST = 300

/** Names of request fields whose values are secrets (sections 2.3, 2.5, 4.3, 4.7). */
const secretFields = /^(secret|tfa_secret|code|backup_code|api_key|key|docker_login_pass|password|token)$/i

/**
 * The service's own words, safe to show: without control and direction characters and without any of `secrets`, at
 * most 300 characters.
 */
export function cleanDetail(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter(secret => secret.length >= 4)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text.slice(0, 20 * LONGEST))
  const flat = hidden
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST - 1)}…` : flat
}

/** The secret values in a request's body: secret fields, and every value of `env`. */
export function secretsIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([field, value]) => {
    if (field === 'env') return textsIn(value)
    if (field === 'image_login' && typeof value === 'string') return [value, ...value.split(' ')]
    if (typeof value === 'string') return secretFields.test(field) ? [value] : []
    return secretsIn(value)
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
