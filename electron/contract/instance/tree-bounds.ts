import { count } from '../format/size.ts'
import { BerthError } from '../problem.ts'

/** What is moved or deleted in one go: a server that makes folders up has no end of them. */
export const treeBounds = {
  /** Files, folders and whatever else. */
  entries: 200_000,
  /** Folders within folders. */
  depth: 64,
  /** Characters of all their paths. */
  characters: 64 * 1024 * 1024,
}

/** Counts what is found in a folder. Throws `too_many_files` or `too_deep`: nothing was done yet. */
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
