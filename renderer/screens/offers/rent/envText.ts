import { firstWords, unquoted } from '../../../words/shellWords.ts'

/** The variables and ports of pasted options, and the unreadable lines. */
export interface PastedOptions {
  env: { name: string; value: string }[]
  /** As `8080`, `9000:80` or `53/udp`. */
  ports: string[]
  unread: string[]
}

/**
 * Parses Docker options (`-e NAME=value`, `--env NAME=value`, `-p 8080:8080`, several to a line, with shell quotes) and
 * lines of a `.env` file, with or without `export`. A later value for a name replaces an earlier one.
 */
export function readPastedOptions(text: string): PastedOptions {
  const found: PastedOptions = { env: [], ports: [], unread: [] }
  for (const raw of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const line = raw.trim().replace(/^docker run\s+/, '')
    if (line === '' || line.startsWith('#')) continue
    const read = line.startsWith('-') ? readOptions(line, found) : readAssignment(line, found)
    if (!read) found.unread.push(raw.trim())
  }
  return found
}

/** `NAME=value`, the value to the end of the line. */
function readAssignment(line: string, found: PastedOptions): boolean {
  const match = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line)
  if (!match) return false
  const [, name = '', given = ''] = match
  const rest = given.trimStart()
  const quoted = /^(["'])(.*)\1$/.exec(rest)
  setVariable(found, name, quoted?.[2] ?? rest)
  return true
}

function readOptions(line: string, found: PastedOptions): boolean {
  const words = shellWords(line)
  if (!words) return false
  let understood = true
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const option = /^(-e|--env|-p|--publish)(?:=(.*)|$)/s.exec(word) ?? /^(-e|-p)(.+)$/s.exec(word)
    const value = option ? (option[2] ?? words.shift()) : undefined
    const takesPort = option?.[1] === '-p' || option?.[1] === '--publish'
    const read = value !== undefined && (takesPort ? addPort(found, value) : addVariable(found, value))
    understood &&= read
  }
  return understood
}

function addVariable(found: PastedOptions, text: string): boolean {
  const equals = text.indexOf('=')
  if (equals < 1) return false
  setVariable(found, text.slice(0, equals), text.slice(equals + 1))
  return true
}

/** `host:container`, `container`, with or without `/udp`. */
function addPort(found: PastedOptions, text: string): boolean {
  const match = /^(?:\d+(?:\.\d+){3}:)?(?:(\d+):)?(\d+)(?:\/(tcp|udp))?$/.exec(text)
  if (!match) return false
  const [, outside, container, protocol] = match
  const mapping = outside === undefined || outside === container ? `${container}` : `${outside}:${container}`
  const port = protocol === 'udp' ? `${mapping}/udp` : mapping
  if (!found.ports.includes(port)) found.ports.push(port)
  return true
}

function setVariable(found: PastedOptions, name: string, value: string): void {
  found.env = [...found.env.filter(each => each.name !== name), { name, value }]
}

/** Words as a shell would split them; undefined when a quote stays open. */
function shellWords(line: string): string[] | undefined {
  const { words, rest } = firstWords(line)
  return rest.trim() === '' ? words.map(({ text }) => unquoted(text)) : undefined
}
