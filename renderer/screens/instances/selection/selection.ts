/** Which instances are selected, by id, and the one that a range begins at. */
export interface Selection {
  readonly ids: ReadonlySet<number>
  readonly anchor?: number
}

export const nothingSelected: Selection = { ids: new Set() }

/** Selects an instance, or no longer does; ranges begin at it. */
export function toggle({ ids }: Selection, id: number): Selection {
  const after = new Set(ids)
  if (!after.delete(id)) after.add(id)
  return { ids: after, anchor: id }
}

/** Adds the range from the anchor to an instance, in the order in which they are shown. */
export function extendTo(selection: Selection, shown: readonly number[], id: number): Selection {
  const from = shown.indexOf(selection.anchor ?? id)
  const to = shown.indexOf(id)
  if (from < 0 || to < 0) return toggle({ ids: new Set() }, id)
  const range = shown.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { ids: new Set([...selection.ids, ...range]), anchor: shown[from] }
}

/** Selects all of these, or none of them where all are selected. */
export function toggleAll({ ids }: Selection, these: readonly number[]): Selection {
  const others = [...ids].filter(id => !these.includes(id))
  return { ids: new Set(selectedOf({ ids }, these) === 'all' ? others : [...ids, ...these]) }
}

/** The selection without what isn't among these any more. */
export function within(selection: Selection, these: { has(id: number): boolean }): Selection {
  const ids = [...selection.ids].filter(id => these.has(id))
  return ids.length === selection.ids.size ? selection : { ...selection, ids: new Set(ids) }
}

/** How many of these are selected. */
export function selectedOf({ ids }: Selection, these: readonly number[]): 'all' | 'some' | 'none' {
  const selected = these.filter(id => ids.has(id)).length
  if (selected === 0) return 'none'
  return selected === these.length ? 'all' : 'some'
}
