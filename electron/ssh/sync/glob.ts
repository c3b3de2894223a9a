/** Whether a name matches a pattern. */
export type Glob = (name: string) => boolean

/** A part of a pattern: a letter, `any` number of letters, or a test for one letter. */
type Token = { letter: string } | 'any' | Test

/**
 * Compiles a pattern for one name, as git reads it: `*`, `?`, `[a-z]` and `\`. Undefined if it matches nothing.
 * Patterns are not trusted, so none becomes a regular expression: a match takes at most the product of both lengths.
 */
export function globOf(pattern: string): Glob | undefined {
  const rest = pattern.startsWith('*') ? pattern.slice(1) : pattern
  if (/[*?[\\]/.test(rest)) {
    const tokens = tokensOf(pattern)
    return tokens && (name => matches(tokens, [...name]))
  }
  // Most patterns are a whole name or the end of one.
  return rest === pattern ? name => name === pattern : name => name.endsWith(rest)
}

function tokensOf(pattern: string): readonly Token[] | undefined {
  const letters = [...pattern]
  const tokens: Token[] = []
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? ''
    if (letter === '*') {
      if (tokens.at(-1) !== 'any') tokens.push('any')
    } else if (letter === '?') tokens.push(() => true)
    else if (letter === '\\') {
      const next = letters[++at]
      if (next === undefined) return undefined
      tokens.push({ letter: next })
    } else if (letter === '[') {
      const set = setAt(letters, at + 1)
      if (set === undefined) return undefined
      tokens.push(set.has)
      at = set.end
    } else tokens.push({ letter })
  }
  return tokens
}

/** Backtracks to the last `*` only. */
function matches(tokens: readonly Token[], letters: readonly string[]): boolean {
  let token = 0
  let letter = 0
  let star = -1
  let starLetter = 0
  while (letter < letters.length) {
    const wanted = tokens[token]
    if (wanted === 'any') {
      star = token++
      starLetter = letter
    } else if (wanted !== undefined && isLetter(wanted, letters[letter] ?? '')) {
      token++
      letter++
    } else if (star >= 0) {
      token = star + 1
      letter = ++starLetter
    } else return false
  }
  while (tokens[token] === 'any') token++
  return token === tokens.length
}

function isLetter(wanted: Exclude<Token, 'any'>, letter: string): boolean {
  return typeof wanted === 'function' ? wanted(letter) : wanted.letter === letter
}

type Test = (letter: string) => boolean

/** The test for a set in brackets, and the index of its end; undefined if the set is not valid. */
function setAt(letters: readonly string[], from: number): { has: Test; end: number } | undefined {
  const negated = letters[from] === '!' || letters[from] === '^'
  const first = negated ? from + 1 : from
  const tests: Test[] = []
  for (let at = first; at < letters.length; at++) {
    if (letters[at] === ']' && at > first) {
      return { has: letter => tests.some(test => test(letter)) !== negated, end: at }
    }
    if (letters[at] === '[' && letters[at + 1] === ':') {
      const end = letters.indexOf(']', at)
      const test = letters[end - 1] === ':' ? classes[letters.slice(at + 2, end - 1).join('')] : undefined
      if (test === undefined) return undefined
      tests.push(test)
      at = end
      continue
    }
    if (letters[at] === '\\') at++
    const low = letters[at]
    if (low === undefined) return undefined
    if (letters[at + 1] === '-' && letters[at + 2] !== ']' && letters[at + 2] !== undefined) {
      at += letters[at + 2] === '\\' ? 3 : 2
      const high = letters[at]
      if (high === undefined) return undefined
      tests.push(letter => letter >= low && letter <= high)
    } else tests.push(letter => letter === low)
  }
  return undefined
}

const classes: Readonly<Record<string, Test>> = {
  alnum: letter => /^[a-z0-9]$/i.test(letter),
  alpha: letter => /^[a-z]$/i.test(letter),
  blank: letter => letter === ' ' || letter === '\t',
  cntrl: letter => letter < ' ' || letter === '\x7f',
  digit: letter => /^[0-9]$/.test(letter),
  graph: letter => /^[!-~]$/.test(letter),
  lower: letter => /^[a-z]$/.test(letter),
  print: letter => /^[ -~]$/.test(letter),
  punct: letter => /^[!-/:-@[-`{-~]$/.test(letter),
  space: letter => /^[ \t-\r]$/.test(letter),
  upper: letter => /^[A-Z]$/.test(letter),
  xdigit: letter => /^[0-9a-f]$/i.test(letter),
}
