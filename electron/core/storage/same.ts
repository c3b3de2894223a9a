/** The depth to which lists and objects are compared; deeper ones count as different. */
const deepest = 100

/** Whether two pieces of plain data are equal in all fields. An undefined field counts as missing. */
export function isDeepEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (Object.is(a, b)) return true
  if (depth > deepest) return false
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key in left) if (!isDeepEqual(left[key], right[key], depth + 1)) return false
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false
  return true
}
