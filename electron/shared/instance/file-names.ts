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
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** The most characters of a name or a path that are shown. */
const longestShown = 8192

/** A name that is safe to show: characters that would act on the screen or mislead are escaped, `a\u{202e}b`. */
export function harmless(name: string): string {
  return harmlessInFull(name.slice(0, longestShown))
}

/** The same for a text that is shown in full, however long it is. */
export function harmlessInFull(text: string): string {
  return withoutHarm(text, letter => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`)
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

/**
 * Whether files that are put into this folder of an instance can keep SSH from working, or change who may log in: they
 * lie above what its server reads, or among it. `~` is root's home.
 */
export function breaksSsh(path: string): boolean {
  const names: string[] = []
  for (const name of path
    .trim()
    .replace(/^~(?=\/|$)/, '/root')
    .split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  const [first, second] = names
  if (names.includes('.ssh') || (first === 'etc' && second === 'ssh')) return true
  return names.length === 0 || (names.length === 1 && (first === 'root' || first === 'etc'))
}
