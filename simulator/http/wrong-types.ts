/** The same JSON with every value of a wrong type, and arrays and objects swapped. */
export function wrongTypes(value: unknown): unknown {
  if (Array.isArray(value)) return { 0: value.length === 0 ? null : wrongTypes(value[0]) }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, wrongTypes(inner)]))
  }
  if (typeof value === 'string') return value.length
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'boolean') return { value }
  return [false]
}
