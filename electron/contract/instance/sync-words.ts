import { named } from '../format/name.ts'
import type { LikelySecret, SkipReason } from './sync.ts'

/** Why an entry of a folder is skipped, in words for page and command line. */
export const skipWords: Record<SkipReason, string> = {
  link_out: 'a link out of the folder',
  link: 'a link',
  dangling: 'a link that leads nowhere',
  special: 'not a file',
  unreadable: 'can’t be read',
  name: 'the other side can’t store its name',
  repository: 'a git repository',
  not_unicode: 'its name isn’t valid Unicode: rename it to send it',
  changed: 'changed or deleted while it was read',
  in_the_way: 'something else has its place',
}

/** A sentence on ignore files that are links. */
export function linkedRulesWords(paths: readonly string[]): string {
  return paths.length === 1
    ? `${named(paths)} is a link, so its rules aren’t applied, as in git.`
    : `${named(paths)} are links, so their rules aren’t applied, as in git.`
}

/** `.env`, or `notes.txt (holds a private key)`. */
export function secretWords({ path, holds }: LikelySecret): string {
  return holds === undefined ? path : `${path} (holds ${holds})`
}
