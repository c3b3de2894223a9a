/** The last days with security fixes of Node's major versions, by its release schedule. */
const lastDays: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
}

/** Since when a Node gets no security fixes, as `2026-04-30`; undefined while it gets some, or where nobody knows. */
export function unsupportedSince(version: string, now: number): string | undefined {
  const last = lastDays[Number.parseInt(version.replace(/^v/, ''), 10)]
  return last !== undefined && now > Date.parse(`${last}T23:59:59Z`) ? last : undefined
}

/** A sentence and advice about a Node without security fixes; undefined for others. */
export function unsupportedNode(
  version: string,
  now: number,
): { message: string; advice: string } | undefined {
  const since = unsupportedSince(version, now)
  if (since === undefined) return undefined
  const message = `Node ${version} has had no security fixes since ${since}.`
  return { message, advice: 'Install Node 22 or 24: https://nodejs.org' }
}
