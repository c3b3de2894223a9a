import { withoutEnd } from '../text.ts'

/** A name as one step of a path, or undefined for what is none: empty, `.`, `..`, or with `/` or NUL in it. */
export function checkedName(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return undefined
  return name
}

/**
 * What a name must not bring to a screen as it is: controls, separators of lines, what turns the direction of writing
 * or cannot be seen, and half characters.
 */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]/gu

/** Characters of a name or a path that are shown. */
const longestShown = 8192

/** A name as it can be shown: what would act on the screen or mislead is written by its code, `a\u{202e}b`. */
export function harmless(name: string): string {
  return withoutHarm(
    name.slice(0, longestShown),
    letter => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** The name with something else in place of each character that would act on a screen or mislead. */
export function withoutHarm(name: string, instead: (letter: string) => string): string {
  return name.replace(harmful, instead)
}

/** The last name of a path; of `/` itself `/`. */
export function lastName(path: string): string {
  return path.split('/').filter(Boolean).at(-1) ?? '/'
}

/** A name in a folder, as a path. */
export function joined(folder: string, ...names: readonly string[]): string {
  return [withoutEnd(folder, '/'), ...names].join('/')
}

/** The folder that a path is in. */
export function folderOf(path: string): string {
  return withoutEnd(path, '/').replace(/\/[^/]*$/, '') || '/'
}
