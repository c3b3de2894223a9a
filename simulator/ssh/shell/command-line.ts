/** A parsed line: quotes, variables, `;` `&&` `||` `|`, `{ }`, and redirections. */
export interface Pipeline {
  /** Whether it runs, given how the one before ended. */
  when: 'always' | 'after success' | 'after failure'
  commands: ParsedCommand[]
}

export interface ParsedCommand {
  words: Word[]
  /** What is between braces, in place of words. */
  group?: Pipeline[]
  redirections: Redirection[]
}

export interface Redirection {
  from: 'output' | 'errors' | 'both' | 'input'
  /** A file, or `output` for `2>&1`. */
  to: Word | 'output'
  append: boolean
}

/** Pieces that form one word once variables are expanded. */
export type Word = { text: string; isVariable: boolean; quoted: boolean }[]

/** A line with a syntax error; the message is bash's. */
export class ShellSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ShellSyntaxError'
  }
}

type Token = { operator: string } | { word: Word }

const operators = /^(?:&>>|&>|2>>|2>&1|2>|>&2|1>&2|1>>|1>|>>|>|<|&&|\|\||\||;|&|\n)/
/** `$NAME`, `${NAME}` and `${NAME:-default}`. */
const variable = /^\$(?:(\?|[A-Za-z_][A-Za-z0-9_]*)|\{(\?|[A-Za-z_][A-Za-z0-9_]*(?::-[^}"'$`]*)?)\})/

/** Parses a line. Throws ShellSyntaxError. */
export function parseLine(line: string): Pipeline[] {
  return parse(tokenize(line), false)
}

/** Parses to the end, or to the brace that closes a group. */
function parse(tokens: Token[], isGroup: boolean): Pipeline[] {
  const pipelines: Pipeline[] = []
  let when: Pipeline['when'] = 'always'
  let commands: ParsedCommand[] = []
  let current: ParsedCommand = { words: [], redirections: [] }

  const isEmpty = () => current.words.length + current.redirections.length === 0 && !current.group
  function endCommand(operator: string): void {
    const empty = isEmpty()
    const closesNothing =
      (operator === '\n' || operator === '}' || operator === 'end') &&
      commands.length === 0 &&
      when === 'always'
    if (empty && !closesNothing)
      throw new ShellSyntaxError(`syntax error near unexpected token \`${operator}'`)
    if (!empty) commands.push(current)
    current = { words: [], redirections: [] }
  }
  function endPipeline(operator: string, next: Pipeline['when']): void {
    endCommand(operator)
    if (commands.length > 0) pipelines.push({ when, commands })
    commands = []
    when = next
  }

  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (isEmpty() && isBrace(token, '{')) current.group = parse(tokens, true)
    else if (isEmpty() && isBrace(token, '}')) {
      if (!isGroup) throw new ShellSyntaxError("syntax error near unexpected token `}'")
      endPipeline('}', 'always')
      return pipelines
    } else if ('word' in token) {
      if (current.group) throw new ShellSyntaxError("syntax error after `}'")
      current.words.push(token.word)
    } else if (token.operator === '|') endCommand('|')
    else if (token.operator === '&&') endPipeline('&&', 'after success')
    else if (token.operator === '||') endPipeline('||', 'after failure')
    else if (token.operator === ';' || token.operator === '\n') endPipeline(token.operator, 'always')
    else if (token.operator === '&') throw new ShellSyntaxError('background jobs are not available here')
    else current.redirections.push(redirection(token.operator, tokens))
  }
  if (isGroup) throw new ShellSyntaxError('syntax error: unexpected end of file')
  const open = commands.length > 0 || when !== 'always' || !isEmpty()
  if (open) endPipeline('end', 'always')
  return pipelines
}

function isBrace(token: Token, brace: '{' | '}'): boolean {
  if (!('word' in token)) return false
  const [first, ...others] = token.word
  return first?.text === brace && !first.quoted && others.length === 0
}

function redirection(operator: string, tokens: Token[]): Redirection {
  if (operator === '2>&1') return { from: 'errors', to: 'output', append: true }
  if (operator.endsWith('>&2')) throw new ShellSyntaxError('this redirection is not available here')
  const target = tokens.shift()
  if (target === undefined || !('word' in target)) {
    throw new ShellSyntaxError(`syntax error near unexpected token \`${target?.operator ?? 'newline'}'`)
  }
  const from = operator.startsWith('2')
    ? 'errors'
    : operator.startsWith('&')
      ? 'both'
      : operator === '<'
        ? 'input'
        : 'output'
  return { from, to: target.word, append: operator.endsWith('>>') }
}

function tokenize(line: string): Token[] {
  const tokens: Token[] = []
  let rest = line
  let word: Word | undefined
  const add = (text: string, quoted: boolean, isVariable = false) => {
    word ??= []
    word.push({ text, isVariable, quoted })
  }
  const endWord = () => {
    if (word !== undefined) tokens.push({ word })
    word = undefined
  }
  while (rest !== '') {
    const operator = (word === undefined ? operators : /^(?:&>>|&>|>>|>|<|&&|\|\||\||;|&|\n)/).exec(rest)?.[0]
    const space = /^[ \t\r]+/.exec(rest)?.[0]
    if (operator !== undefined) {
      endWord()
      tokens.push({ operator })
      rest = rest.slice(operator.length)
    } else if (space !== undefined) {
      endWord()
      rest = rest.slice(space.length)
    } else if (rest.startsWith('#') && word === undefined) {
      rest = rest.includes('\n') ? rest.slice(rest.indexOf('\n')) : ''
    } else if (rest.startsWith("'")) {
      const end = rest.indexOf("'", 1)
      if (end < 0) throw new ShellSyntaxError("unexpected EOF while looking for matching `''")
      add(rest.slice(1, end), true)
      rest = rest.slice(end + 1)
    } else if (rest.startsWith('"')) {
      rest = doubleQuoted(rest.slice(1), add)
    } else if (rest.startsWith('\\')) {
      add(rest.slice(1, 2), true)
      rest = rest.slice(2)
    } else {
      rest = rest.slice(plain(rest, false, add))
    }
  }
  endWord()
  return tokens
}

type Add = (text: string, quoted: boolean, isVariable?: boolean) => void

/** Reads up to the closing quote; gives the rest of the line after it. */
function doubleQuoted(text: string, add: Add): string {
  let rest = text
  add('', true)
  while (!rest.startsWith('"')) {
    if (rest === '') throw new ShellSyntaxError('unexpected EOF while looking for matching `"\'')
    if (/^\\["\\$`]/.test(rest)) {
      add(rest.slice(1, 2), true)
      rest = rest.slice(2)
    } else {
      rest = rest.slice(plain(rest, true, add))
    }
  }
  return rest.slice(1)
}

/** Reads a variable or some plain text; gives how many characters that was. */
function plain(rest: string, quoted: boolean, add: Add): number {
  if (rest.startsWith('`') || rest.startsWith('$(')) {
    throw new ShellSyntaxError('command substitution is not available here')
  }
  if (!quoted && /^[()]/.test(rest)) {
    throw new ShellSyntaxError(`syntax error near unexpected token \`${rest.charAt(0)}'`)
  }
  const found = variable.exec(rest)
  if (found !== null) {
    add(found[1] ?? found[2] ?? '', quoted, true)
    return found[0].length
  }
  const length = (quoted ? /^[^"\\$`]+/ : /^[^\s'"\\$`;&|<>()]+/).exec(rest)?.[0].length ?? 1
  add(rest.slice(0, length), quoted)
  return length
}
