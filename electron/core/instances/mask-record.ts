const hidden = '••••••'

/** Names of fields whose values are secrets, or may hold some. */
const secretName = /token|secret|passw|api_key|apikey|credential/i

/** A record as it may be shown: values of secret fields, and of the environment, are covered. */
export function maskRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, maskField(name, value)]))
}

function maskField(name: string, value: unknown): unknown {
  if (value === null || value === undefined || value === '') return value
  if (secretName.test(name)) return hidden
  if (name === 'extra_env' && Array.isArray(value))
    return value.map((pair: unknown) => (Array.isArray(pair) ? [pair[0], hidden] : hidden))
  if (typeof value === 'object' && !Array.isArray(value)) return maskRecord(value as Record<string, unknown>)
  return value
}
