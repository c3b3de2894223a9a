import type { ChosenFolder } from './chosen-files.ts'

/** Folders for Berth's own downloads. Berth stores their paths; the page cannot choose any. */
export interface Downloads {
  /** The absolute path of Berth's own folder, in the user's downloads. */
  readonly own: string
  /** The folder at a path that Berth has stored; created if it is missing. */
  at(path: string): Promise<ChosenFolder>
}
