/** What a status line says of a transfer. */
export interface Saying {
  /** 0 to 1. */
  progress?: number
  end?: 'done' | 'failed' | 'cancelled'
}

const endings = [
  ['cancelled', /\bcancell?ed\b|\baborted\b/i],
  ['failed', /\bfail(ed|ure)?\b|\berror\b|\bdenied\b|no such file/i],
  ['done', /\b(done|complete[d]?|finished|succeeded|successful(ly)?)\b/i],
] as const

/**
 * Reads an instance's status line (section 4.3: progress is told there). Its form is not shown in the interface, so
 * only what can hardly be misread is taken: a percentage, and a word for the end after the paths.
 */
export function readLine(line: string, paths: readonly string[]): Saying {
  const rest = withoutPaths(line, paths)
  const end = endings.find(([, words]) => words.test(rest))?.[0]
  if (end) return { end }
  const percent = /(\d{1,3}(?:\.\d+)?)\s*%/.exec(rest)?.[1]
  if (percent === undefined || Number(percent) > 100) return {}
  return { progress: Number(percent) / 100 }
}

/** Whether the line speaks of a transfer of this kind at all. */
export function speaksOf(kind: 'copy' | 'sync', line: string): boolean {
  return kind === 'copy' ? /\bcop(y|ying|ied)\b|\brsync\b/i.test(line) : /\bsync|\brclone\b/i.test(line)
}

/** A path may be called anything, `/done` too: it says nothing. */
function withoutPaths(line: string, paths: readonly string[]): string {
  return [...paths]
    .sort((a, b) => b.length - a.length)
    .reduce((text, path) => text.replaceAll(path, ' '), line)
}
