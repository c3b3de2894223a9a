import * as v from 'valibot'

/** A tag of the user's own: one word, so that several stand in one line. */
const Tag = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('a tag has at least one letter'),
  v.maxLength(32, 'at most 32 characters in a tag'),
  v.regex(/^[^\s,]+$/, 'a tag is one word'),
)

/** The user's own words about an instance, which only Berth keeps. */
export const NoteText = v.pipe(v.string(), v.trim(), v.maxLength(2000, 'at most 2,000 characters'))
export const NoteTags = v.pipe(v.array(Tag), v.maxLength(8, 'at most 8 tags'))

export interface InstanceNote {
  note: string
  tags: readonly string[]
}

/** The tags in a text that separates them by spaces or commas, each once. */
export function tagsIn(typed: string): string[] {
  return [...new Set(typed.split(/[\s,]+/).map(tag => tag.replace(/^#/, '')))].filter(Boolean)
}
