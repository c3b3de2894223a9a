import { withoutEnd } from '../text.ts'
import { type DockerOptions, readOptions } from './docker-options.ts'
import { commandLine, isExpanded, type PastedWord, quoted, unquoted } from './shell-words.ts'

/**
 * Reads what people paste to rent: lines of a `.env` file, Docker's options, and whole commands of Docker and its like
 * or of the service's command line. Values are read as dotenv and a shell read them, over several lines too. Every
 * piece that gives neither a variable nor a port is in `unread`, as written; comments alone are dropped.
 */
export function readPastedOptions(pasted: string): DockerOptions {
  const text = withPlainQuotes(pasted.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'))
  const found: DockerOptions = { variables: [], unset: [], ports: [], unread: [] }
  let at = 0
  while (at < text.length) {
    at = skipBlank(text, at)
    const next = readAssignment(text, at, found) ?? readCommand(text, at, found)
    at = next > at ? next : at + 1
  }
  return found
}

/** The index after blank lines and the marks that stand before a typed command. */
function skipBlank(text: string, from: number): number {
  const blank = /(?:\s|[\\^`][^\S\n]*\n)*(?:\$ +)?/y
  blank.lastIndex = from
  return from + (blank.exec(text)?.[0].length ?? 0)
}

/** The assignment at `from`, as a `.env` file has it: the index after it, or undefined where there is none. */
function readAssignment(text: string, from: number, found: DockerOptions): number | undefined {
  const start = /(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[^\S\n]*=[^\S\n]*/y
  start.lastIndex = from
  const match = start.exec(text)
  if (!match) return undefined
  const [whole, name = ''] = match
  const at = from + whole.length
  if (/["'`]/.test(text.charAt(at))) return readQuoted(text, from, at, name, found)
  const lineEnd = endOfLine(text, at)
  const line = text.slice(at, lineEnd)
  // Several to a line, or before a command, as a shell has them.
  const isOneOfSeveral = /^\S+[^\S\n]+(?:[A-Za-z_][A-Za-z0-9_]*=|(?:sudo|docker|podman)\s|\\\s*$)/.test(line)
  if (isOneOfSeveral || !isAtLineStart(text, from)) {
    const first = /^\S*/.exec(line)?.[0] ?? ''
    setVariable(found, name, first, first)
    return at + first.length
  }
  const comment = /(?:^|\s)#/.exec(line)
  const value = (comment ? line.slice(0, comment.index) : line).trim()
  const wrapped = wrappedTail(text, lineEnd, value)
  setVariable(found, name, value + wrapped.text, value)
  return wrapped.end
}

function isAtLineStart(text: string, at: number): boolean {
  return /^\s*(?:\$ +)?$/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))
}

/** A value in quotes, which may go over several lines; `at` is the quote. */
function readQuoted(text: string, from: number, at: number, name: string, found: DockerOptions): number {
  const quote = text.charAt(at)
  const body = quote === '"' ? /"((?:\\[\s\S]|[^"\\])*)"/y : quote === "'" ? /'([^']*)'/y : /`([^`]*)`/y
  body.lastIndex = at
  const match = body.exec(text)
  if (!match) {
    // Nothing behind an open quote is sure to be a separate line.
    found.unread.push(text.slice(from).trim())
    return text.length
  }
  const [source, value = ''] = match
  const end = at + source.length
  const glued = /[^\s]*/y
  glued.lastIndex = end
  const tail = glued.exec(text)?.[0] ?? ''
  if (tail !== '' && quote !== '`' && !tail.startsWith('#')) {
    // As in a shell, the word continues after the quote.
    const { words, end: wordsEnd, open } = commandLine(text, at)
    const word = words[0]?.text ?? ''
    if (open && words.length < 2) {
      found.unread.push(text.slice(from, wordsEnd).trim() + text.slice(wordsEnd))
      return text.length
    }
    setVariable(found, name, unquoted(word), word)
    return at + word.length
  }
  if (tail !== '') {
    // dotenv takes a comment here, and a shell a part of the value.
    const lineEnd = endOfLine(text, end)
    found.unread.push(text.slice(from, lineEnd).trim())
    return lineEnd
  }
  setVariable(found, name, quote === '"' ? unescaped(value) : value, quote === '"' ? source : `''`)
  return end
}

/** dotenv's escapes in double quotes, and a shell's. */
function unescaped(text: string): string {
  const named: Record<string, string> = { n: '\n', r: '\r', t: '\t', '\n': '' }
  return text.replace(/\\([nrt"\\$`\n])/g, (_, sign: string) => named[sign] ?? sign)
}

/**
 * What follows a long value on the next lines as `base64` wraps it: letters of its alphabet alone. A name before an
 * equals sign isn't taken for that, unless it ends as base64 does and no name is written so.
 */
function wrappedTail(text: string, lineEnd: number, value: string): { text: string; end: number } {
  let [taken, end] = ['', lineEnd]
  if (!/^[A-Za-z0-9+/]{40,}$/.test(value)) return { text: taken, end }
  while (end < text.length) {
    const next = endOfLine(text, end + 1)
    const line = text.slice(end + 1, next).trim()
    const isFull = /^[A-Za-z0-9+/]{40,}={0,2}$/.test(line)
    const isEnd = endsAsBase64(line)
    if (!isFull && !isEnd) break
    taken += line
    end = next
    if (line.endsWith('=')) break
  }
  return { text: taken, end }
}

/** Two equals signs, or one behind letters of both cases as no name has them. */
function endsAsBase64(line: string): boolean {
  const letters = withoutEnd(line, '=')
  const equals = line.length - letters.length
  if (!/^[A-Za-z0-9+/]*$/.test(letters)) return false
  return equals === 2 || (equals === 1 && /[a-z0-9][A-Z]/.test(letters) && /[a-z]/.test(letters))
}

/** A command or options alone; the index after it. */
function readCommand(text: string, from: number, found: DockerOptions): number {
  const { words, end, open } = commandLine(text, from)
  if (open) {
    found.unread.push(text.slice(from).trim())
    return text.length
  }
  if (words.length === 0) return end
  const { length, atImage } = commandOf(words.map(word => unquoted(word.text)))
  const options =
    length === 0 && !words[0]?.text.startsWith('-') ? undefined : readOptions(words.slice(length), atImage)
  if (!options || isNothing(options)) {
    found.unread.push(text.slice(from, end).trim())
    return end
  }
  const last = words.at(-1)
  const wrapped = last === undefined ? { text: '', end } : wrappedTail(text, end, lastValue(last))
  const lastVariable = options.variables.at(-1)
  if (lastVariable && wrapped.text !== '') lastVariable.value += wrapped.text
  for (const { name, value } of options.variables) setVariable(found, name, value, `''`)
  for (const { name, text } of options.unset) setUnset(found, name, text)
  found.ports.push(...options.ports)
  found.unread.push(...options.unread)
  return wrapped.end
}

function lastValue({ text }: PastedWord): string {
  return /^(?:-e|--env=)?[A-Za-z_][A-Za-z0-9_]*=(.*)$/.exec(text)?.[1] ?? ''
}

const dockers = /^(?:.*\/)?(?:docker|podman|nvidia-docker|nerdctl)(?:\.exe)?$/
const servicesOwn = /^(?:.*\/)?vast(?:ai|\.py)$/

/** How many words a command's name has, and where its options end; none if it isn’t a command that Berth reads. */
function commandOf(words: readonly string[]): { length: number; atImage: 'ends' | 'goes on' } {
  let at = words[0] === 'sudo' ? 1 : 0
  while (at > 0 && words[at]?.startsWith('-')) at++
  if (dockers.test(words[at] ?? '')) {
    const verb = words[at + 1] === 'container' ? at + 2 : at + 1
    if (words[verb] === 'run' || words[verb] === 'create') return { length: verb + 1, atImage: 'ends' }
  }
  if (/^python3?$/.test(words[at] ?? '')) at++
  if (!servicesOwn.test(words[at] ?? '')) return { length: 0, atImage: 'ends' }
  const options = words.findIndex((word, index) => index > at && !/^[a-z]+$/.test(word))
  return { length: options < 0 ? words.length : options, atImage: 'goes on' }
}

function isNothing({ variables, unset, ports }: DockerOptions): boolean {
  return variables.length + unset.length + ports.length === 0
}

/** The later value of a name counts. `source` tells whether a shell would put something of its own into it. */
function setVariable(found: DockerOptions, name: string, value: string, source: string): void {
  if (isExpanded(source)) {
    setUnset(found, name, value)
    return
  }
  forget(found, name)
  found.variables.push({ name, value })
}

function setUnset(found: DockerOptions, name: string, text: string): void {
  forget(found, name)
  found.unset.push({ name, text })
}

function forget(found: DockerOptions, name: string): void {
  found.variables = found.variables.filter(each => each.name !== name)
  found.unset = found.unset.filter(each => each.name !== name)
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** Typographic quotes around a value, as web pages make them of plain ones. */
function withPlainQuotes(text: string): string {
  let plain = ''
  /** Up to where a sign that opened is known to close nowhere. */
  const unclosed = new Map<string, number>()
  for (let at = 0; at < text.length; ) {
    const sign = text.charAt(at)
    const isTypographic = '“„‘'.includes(sign) && (at === 0 || /[\s=]/.test(text.charAt(at - 1)))
    const opens = (isTypographic || sign === '"' || sign === "'") && at >= (unclosed.get(sign) ?? 0)
    const signs = !isTypographic ? sign : sign === '‘' ? '‘’' : '“”'
    const end = opens ? closing(text, at + 1, signs) : -1
    if (opens && end < 0) unclosed.set(sign, endOfLine(text, at))
    if (isTypographic && end > 0) plain += quoted('', text.slice(at + 1, end))
    else plain += text.slice(at, Math.max(at, end) + 1)
    at = Math.max(at, end) + 1
  }
  return plain
}

/** The index of the closing quote or bracket on the same line; -1 without one. */
function closing(text: string, from: number, signs: string): number {
  for (let at = from; at < text.length && text.charAt(at) !== '\n'; at += 1) {
    if (text.charAt(at) === '\\' && signs === '"') at += 1
    else if (signs.includes(text.charAt(at))) return at
  }
  return -1
}
