/** What the Templates screen shows, as the rest of its address says: `HASH`, `HASH/edit`, `new`, or `new/HASH` for a copy. */
export type TemplatePlace =
  | { kind: 'list' }
  | { kind: 'details' | 'edit'; hash: string }
  | { kind: 'new'; hash?: string }

export function templatePlaceOf(path: string): TemplatePlace {
  const [first, second] = path.split('/').filter(Boolean).map(decoded)
  if (first === undefined) return { kind: 'list' }
  if (first === 'new') return { kind: 'new', hash: second }
  return { kind: second === 'edit' ? 'edit' : 'details', hash: first }
}

export function pathOf(place: TemplatePlace): string {
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
