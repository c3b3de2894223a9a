import {
  type PublishedPort,
  portText,
  readOptions,
  readPorts,
  readVariable,
  variableName,
} from '#shared/market/docker-options.ts'
import { firstWords, type PastedWord, quoted, unquoted } from '#shared/market/shell-words.ts'

/** One flag of a template's `env` (section 2.3). Without `source` it is new or was changed, and is printed afresh. */
export type FlagRow = (
  | { kind: 'variable'; name: string; value: string }
  /** A port of the container, and the one outside where it is named: `-p 8080:80/udp`. */
  | ({ kind: 'port' } & PublishedPort)
  /** `-h name`, `-v …` and any other flag, kept as written. */
  | { kind: 'other'; text: string }
) & {
  /** The original text, with the space before it. */
  source?: string
}

export interface DockerFlags {
  rows: FlagRow[]
  /** An unclosed quote, which makes everything after it one row. */
  unclosed: boolean
}

/** Parses Docker flags with shell quoting. Printing the rows gives exactly the same text. */
export function parseFlags(text: string): DockerFlags {
  const { words, rest } = firstWords(text)
  const rows: FlagRow[] = []
  for (let at = 0; at < words.length; ) {
    const taken = takeFlag(words, at)
    rows.push(taken.row)
    at += taken.words
  }
  if (!/^(?:\s|\\\r?\n)*$/.test(rest))
    return { rows: [...rows, { kind: 'other', text: rest, source: rest }], unclosed: true }
  const last = rows.at(-1)
  if (last) last.source += rest
  return { rows, unclosed: false }
}

/** Prints rows as flags. */
export function printFlags(rows: readonly FlagRow[]): string {
  return rows.reduce((text, row) => {
    if (row.source !== undefined) return text + row.source
    const flag = printFlag(row)
    return text === '' || /\s$/.test(text) || flag === '' ? text + flag : `${text} ${flag}`
  }, '')
}

/** The variables and ports in their order; the last one of a repeated name counts. */
export function envOf(text: string): { variables: Map<string, string>; ports: Set<string> } {
  const { variables, unset, ports } = readOptions(firstWords(text).words, 'goes on')
  // No shell reads a template's flags: what refers to a variable is text there.
  const referring = unset.filter(({ text }) => text !== '').map(({ name, text }) => ({ name, value: text }))
  return {
    variables: new Map([...variables, ...referring].map(({ name, value }) => [name, value])),
    ports: new Set(ports.map(portText)),
  }
}

/** The error of a row as a sentence; undefined where there is none. An empty row is not printed, so it is no error. */
export function rowMistake(row: FlagRow): string | undefined {
  if (isEmpty(row)) return undefined
  if (row.kind === 'variable') {
    if (row.name === '') return 'Enter a name.'
    return variableName.test(row.name) ? undefined : 'Letters, digits and _, not beginning with a digit.'
  }
  if (row.kind === 'port') {
    const isOne = readPorts(mapping(row))?.length === 1
    return isOne ? undefined : 'Ports are whole numbers from 1 to 65535.'
  }
  return undefined
}

function takeFlag(words: readonly PastedWord[], at: number): { row: FlagRow; words: number } {
  const [word, next] = [words[at], words[at + 1]]
  if (!word) return { row: { kind: 'other', text: '' }, words: 1 }
  const wordText = unquoted(word.text)
  const joined = /^(-e|--env|-p|--publish)=(.*)$/s.exec(wordText) ?? /^(-e|-p)(.+)$/s.exec(wordText)
  if (joined) {
    const row = readValue(joined[1] ?? '', joined[2] ?? '') ?? { kind: 'other', text: word.text }
    return { row: { ...row, source: word.before + word.text }, words: 1 }
  }
  if (
    !wordText.startsWith('-') ||
    !next ||
    (unquoted(next.text).startsWith('-') && !takesValue.has(wordText))
  )
    return { row: { kind: 'other', text: word.text, source: word.before + word.text }, words: 1 }
  const source = word.before + word.text + next.before + next.text
  const other: FlagRow = { kind: 'other', text: word.text + next.before + next.text }
  return { row: { ...(readValue(wordText, unquoted(next.text)) ?? other), source }, words: 2 }
}

/** Flags whose value may begin with a dash. */
const takesValue = new Set(['-e', '--env', '-p', '--publish', '-h', '--hostname', '-v', '--volume'])

/** The variable or port of a flag and its value; undefined for every other flag. */
function readValue(flag: string, value: string): FlagRow | undefined {
  if (flag === '-e' || flag === '--env') {
    const variable = readVariable(value)
    return variable && { kind: 'variable', ...variable }
  }
  // A row has no place for an address or for several ports.
  if ((flag !== '-p' && flag !== '--publish') || !/^[\d:]+(?:\/(?:tcp|udp))?$/.test(value)) return undefined
  const [port] = readPorts(value) ?? []
  return port && { kind: 'port', ...port }
}

function isEmpty(row: FlagRow): boolean {
  if (row.kind === 'variable') return row.name === '' && row.value === ''
  return row.kind === 'port' && row.container === '' && row.outside === ''
}

function printFlag(row: FlagRow): string {
  if (isEmpty(row)) return ''
  if (row.kind === 'other') return row.text.trim()
  if (row.kind === 'variable') return `-e ${quoted(`${row.name}=`, row.value)}`
  return `-p ${mapping(row)}`
}

function mapping({ outside, container, protocol }: PublishedPort): string {
  return `${outside === '' ? '' : `${outside}:`}${container}${protocol === 'udp' ? '/udp' : ''}`
}
