import { count } from '../format/size.ts'
import { BerthError } from '../problem.ts'

/** Limits for one move or deletion: a hostile server can invent folders without end. */
export const treeBounds = {
  /** Files, folders and all others. */
  entries: 200_000,
  /** Folders within folders. */
  depth: 64,
  /** Characters of all their paths. */
  characters: 64 * 1024 * 1024,
}

/** Counts the entries of a tree before anything is done. Throws `too_many_files` or `too_deep`. */
export function countTree(doing: string, bounds = treeBounds): (path: string, depth: number) => void {
  let entries = 0
  let characters = 0
  return (path, depth) => {
    if (depth > bounds.depth)
      throw new BerthError({
        code: 'too_deep',
        message: `Nothing was ${doing}: folders there lie within each other more than ${bounds.depth} deep.`,
        advice: 'Choose a folder further inside, or use the terminal.',
      })
    entries += 1
    characters += path.length
    if (entries > bounds.entries || characters > bounds.characters)
      throw new BerthError({
        code: 'too_many_files',
        message: `Nothing was ${doing}: there are more than ${count(Math.min(entries - 1, bounds.entries))} files and folders, or their names are too long.`,
        advice: 'Choose fewer folders at a time, or use the terminal.',
      })
  }
}
