/**
 * Seconds that a `Retry-After` header asks to wait: a number, or a date told against the answer's own `Date`, since
 * this machine's clock may be wrong.
 */
export function secondsIn(header: string | null, serverTime: number | undefined): number | undefined {
  if (header === null) return undefined
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header)
  const date = Date.parse(header) / 1000
  if (Number.isNaN(date)) return undefined
  return Math.max(0, date - (serverTime ?? Date.now() / 1000))
}
