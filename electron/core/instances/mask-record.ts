const hidden = '••••••'

/** Names of fields whose values are or may contain secrets. */
const secretName = /token|secret|pass|api_?key|credential|private_?key/i
/** Names of the environment in all its shapes: variable names are shown where they can be told from the values. */
const environment = /^(extra_)?env$/

/** The depth of nesting that is shown; deeper values are masked. */
const deepest = 32

/** A record for display, with the values of secret fields, of the environment and of too deep nesting masked. */
export function maskRecord(record: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, maskField(name, value, depth)]),
  )
}

function maskField(name: string, value: unknown, depth: number): unknown {
  if (value === null || value === undefined || value === '') return value
  if (secretName.test(name)) return hidden
  if (environment.test(name)) return maskEnvironment(value)
  if (typeof value === 'object' && depth >= deepest) return hidden
  if (Array.isArray(value)) return value.map(item => maskField('', item, depth + 1))
  if (typeof value === 'object') return maskRecord(value as Record<string, unknown>, depth + 1)
  return value
}

function maskEnvironment(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((pair: unknown) => (Array.isArray(pair) ? [pair[0], hidden] : hidden))
  if (typeof value !== 'object' || value === null) return hidden
  return Object.fromEntries(Object.keys(value).map(variable => [variable, hidden]))
}
