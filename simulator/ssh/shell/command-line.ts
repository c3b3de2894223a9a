/** A parsed line: `;` `&&` `||` `|`, `{ }`, and redirections. Words are as they were written. */
export interface Pipeline {
  /** Whether it runs, given how the one before ended. */
  when: 'always' | 'after success' | 'after failure'
  commands: ParsedCommand[]
}

export interface ParsedCommand {
  words: string[]
  /** What is between braces, in place of words. */
  group?: Pipeline[]
  /** Such as `2>` with its file, or `2>&1` without one. */
  redirections: { operator: string; file: string }[]
}

/** A line with a syntax error; the message is bash's. */
export class ShellSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ShellSyntaxError'
  }
}

interface Token {
  text: string
  isWord: boolean
}

const pattern =
  /[ \t\r]+|#[^\n]*|(2>&1|1?>&2|[12&]?>>?|<|&&|\|\||[|;\n])|((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\;&|<>()`])+)/sy

/** Parses a line. Throws ShellSyntaxError. */
export function parseLine(line: string): Pipeline[] {
  return parseList(tokenize(line), false)
}

function tokenize(line: string): Token[] {
  const tokens: Token[] = []
  pattern.lastIndex = 0
  for (let at = 0; at < line.length; at = pattern.lastIndex) {
    const [, operator, word] = pattern.exec(line) ?? refuse(line.charAt(at))
    if (operator !== undefined) tokens.push({ text: operator, isWord: false })
    if (word === undefined) continue
    if (/`|\$\(/.test(word.replace(/'[^']*'|\\./gs, '')))
      throw new ShellSyntaxError('command substitution is not available here')
    tokens.push({ text: word, isWord: true })
  }
  return tokens
}

function refuse(token = 'newline'): never {
  throw new ShellSyntaxError(`syntax error near unexpected token \`${token}'`)
}

/** Takes the tokens up to the end, or to the brace that closes a group. */
function parseList(tokens: Token[], isGroup: boolean): Pipeline[] {
  const list: Pipeline[] = []
  let when: Pipeline['when'] = 'always'
  for (;;) {
    while (tokens[0]?.text === '\n') tokens.shift()
    const closes = tokens[0]?.text === '}'
    if (tokens[0] === undefined || closes) {
      if (when !== 'always' || closes !== isGroup) refuse(tokens[0]?.text)
      tokens.shift()
      return list
    }
    list.push({ when, commands: parsePipeline(tokens) })
    const { text } = tokens.shift() ?? { text: ';' }
    when = text === '&&' ? 'after success' : text === '||' ? 'after failure' : 'always'
  }
}

function parsePipeline(tokens: Token[]): ParsedCommand[] {
  const commands = [parseCommand(tokens)]
  while (tokens[0]?.text === '|') {
    tokens.shift()
    commands.push(parseCommand(tokens))
  }
  return commands
}

function parseCommand(tokens: Token[]): ParsedCommand {
  const command: ParsedCommand = { words: [], redirections: [] }
  if (tokens[0]?.text === '{') {
    tokens.shift()
    command.group = parseList(tokens, true)
  }
  for (let token = tokens[0]; token && (token.isWord || /[<>]/.test(token.text)); token = tokens[0]) {
    tokens.shift()
    if (token.isWord) {
      if (command.group) refuse(token.text)
      command.words.push(token.text)
      continue
    }
    const file = token.text.includes('>&') ? undefined : tokens.shift()
    if (!token.text.includes('>&') && !file?.isWord) refuse(file?.text)
    command.redirections.push({ operator: token.text, file: file?.text ?? '' })
  }
  const { words, group, redirections } = command
  if (!group && words.length + redirections.length === 0) refuse(tokens[0]?.text)
  return command
}

/** A part of a word: in single quotes, in double quotes, escaped, or a variable. */
const part =
  /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|(\$(?:\?|[A-Za-z_]\w*|\{(?:\?|[A-Za-z_]\w*)(?::-[^}]*)?\}))/gs

/** Expands a word: one that is empty without quotes gives none. `~` is the home folder. */
export function expand(word: string, lookUp: (name: string) => string): string[] {
  const text = word
    .replace(/^~(?=\/|$)/, '/root')
    .replace(part, (_, single?: string, double?: string, escaped?: string, variable?: string) => {
      if (double !== undefined)
        return double.replace(
          /\\(["\\$`])|(\$(?:\?|\w+|\{[^}]*\}))/g,
          (all, plain?: string, name?: string) =>
            name === undefined ? (plain ?? all) : substitute(name, lookUp),
        )
      return variable === undefined ? (single ?? escaped ?? '') : substitute(variable, lookUp)
    })
  return text === '' && !/['"]/.test(word) ? [] : [text]
}

/** The value of `$NAME`, `${NAME}` or `${NAME:-default}`. */
function substitute(variable: string, lookUp: (name: string) => string): string {
  const [name = '', otherwise = ''] = variable.replace(/^\$\{?|\}$/g, '').split(':-', 2)
  return lookUp(name) || otherwise
}
