/** What the Templates screen shows, as the rest of its address says: `HASH`, `HASH/edit`, `new`, or `new/HASH` for a copy. */
export type Place =
  | { kind: 'list' }
  | { kind: 'details' | 'edit'; hash: string }
  | { kind: 'new'; hash?: string }

export function placeOf(path: string): Place {
  const [first, second] = path.split('/').filter(Boolean).map(decoded)
  if (first === undefined) return { kind: 'list' }
  if (first === 'new') return { kind: 'new', hash: second }
  return { kind: second === 'edit' ? 'edit' : 'details', hash: first }
}

export function pathOf(place: Place): string {
  if (place.kind === 'list') return ''
  if (place.kind === 'new') return place.hash === undefined ? 'new' : `new/${encodeURIComponent(place.hash)}`
  return encodeURIComponent(place.hash) + (place.kind === 'edit' ? '/edit' : '')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
