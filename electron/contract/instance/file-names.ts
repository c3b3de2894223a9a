import { withoutEnd } from '../text.ts'

/** A valid name of a file or folder; undefined for an invalid one: empty, `.`, `..`, or with `/` or NUL. */
export function checkedName(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return undefined
  return name
}

/**
 * Characters that must not reach a screen: controls, line separators, marks of the writing direction, invisible
 * characters, and lone surrogates.
 */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]/gu

/** The most characters of a name or a path that are shown. */
const longestShown = 8192

/** A name that is safe to show: characters that would act on the screen or mislead are escaped, `a\u{202e}b`. */
export function harmless(name: string): string {
  return withoutHarm(
    name.slice(0, longestShown),
    letter => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** The name with a replacement for each character that would act on a screen or mislead. */
export function withoutHarm(name: string, instead: (letter: string) => string): string {
  return name.replace(harmful, instead)
}

/** The last name of a path; `/` for `/` itself. */
export function lastName(path: string): string {
  return path.split('/').filter(Boolean).at(-1) ?? '/'
}

/** The path of a name in a folder. */
export function joined(folder: string, ...names: readonly string[]): string {
  return [withoutEnd(folder, '/'), ...names].join('/')
}

/** The folder that a path is in. */
export function folderOf(path: string): string {
  return withoutEnd(path, '/').replace(/\/[^/]*$/, '') || '/'
}
