import type { ChosenFolder } from './chosen-files.ts'

/** Folders of this machine for what Berth fetches by itself. Paths are remembered by Berth; the page names none. */
export interface Downloads {
  /** Berth's own folder, in the user's downloads: an absolute path. */
  readonly own: string
  /** A folder by a path that Berth has remembered; made where it is missing. */
  at(path: string): Promise<ChosenFolder>
}
