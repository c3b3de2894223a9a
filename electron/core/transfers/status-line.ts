/** What a status line says about a transfer. */
export interface Saying {
  /** 0 to 1. */
  progress?: number
  end?: 'done' | 'failed' | 'cancelled'
}

/** The number of characters read of a status line, enough for two paths. */
const longest = 16_384

const endings = [
  ['cancelled', /\bcancell?ed\b|\baborted\b/i],
  ['failed', /\bfail(ed|ure)?\b|\berror\b|\bdenied\b|no such file/i],
  ['done', /\b(done|complete[d]?|finished|succeeded|successful(ly)?)\b/i],
] as const

/**
 * Parses an instance's status line, which has the progress (section 4.3). Its format is not documented, so only
 * unmistakable parts count: a percentage, and a word for the end outside the paths.
 */
export function readLine(line: string, paths: readonly string[]): Saying {
  const rest = withoutPaths(line, paths)
  const end = endings.find(([, words]) => words.test(rest))?.[0]
  if (end) return { end }
  const percent = /(\d{1,3}(?:\.\d+)?)\s*%/.exec(rest)?.[1]
  if (percent === undefined || Number(percent) > 100) return {}
  return { progress: Number(percent) / 100 }
}

/** Whether the line is about a transfer of this kind. */
export function speaksOf(kind: 'copy' | 'sync', line: string, paths: readonly string[]): boolean {
  const rest = withoutPaths(line, paths)
  return kind === 'copy' ? /\bcop(y|ying|ied)\b|\brsync\b/i.test(rest) : /\bsync|\brclone\b/i.test(rest)
}

/** Whether the line names exactly this path, not a longer one that contains it. */
export function namesPath(line: string, path: string): boolean {
  const goesOn = /[\p{L}\p{N}_./\\-]/u
  const text = line.slice(0, longest)
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + path.length)]
    if (!goesOn.test(before) && !goesOn.test(after)) return true
  }
  return false
}

/** Removes the paths, as a name such as `/done` means nothing. */
function withoutPaths(line: string, paths: readonly string[]): string {
  const longestFirst = [...paths].sort((a, b) => b.length - a.length)
  return longestFirst
    .reduce((text, path) => text.replaceAll(path, ' '), line.slice(0, longest))
    .split(/\s+/)
    .filter(word => !/[/\\]/.test(word))
    .join(' ')
}
