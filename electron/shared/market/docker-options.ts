import { isIdentityPort } from './rent-request.ts'
import { firstWords, isExpanded, type PastedWord, unquoted } from './shell-words.ts'

/** One port of `-p`, as digits; `outside` is empty where any will do. */
export interface PublishedPort {
  outside: string
  container: string
  protocol: 'tcp' | 'udp'
}

/** A variable without a value here, which `text` refers to if it isn't empty: `$HF_TOKEN`, `$(id -u)`. */
export interface UnsetVariable {
  name: string
  text: string
}

/** Variables and ports of Docker's options, in their order, and the pieces that are neither. */
export interface DockerOptions {
  variables: { name: string; value: string }[]
  unset: UnsetVariable[]
  ports: PublishedPort[]
  unread: string[]
}

/** The options of `docker run` and its like that stand alone; all others take a value. */
const alone = new Set(
  `--detach --disable-content-trust --help --init --interactive --no-healthcheck --oom-kill-disable --privileged
   --publish-all --quiet --read-only --replace --rm --rmi --sig-proxy --tls-verify --tty --use-api-socket`.split(
    /\s+/,
  ),
)
const lettersAlone = 'ditPq'

/**
 * Reads words as options of `docker run`. `ends` at the first word that is no option, the image: what follows belongs
 * to the program in it. Otherwise such a word is skipped.
 */
export function readOptions(words: readonly PastedWord[], atImage: 'ends' | 'goes on'): DockerOptions {
  const found: DockerOptions = { variables: [], unset: [], ports: [], unread: [] }
  for (let at = 0; at < words.length; at++) {
    const word = words[at]?.text ?? ''
    const option = optionOf(unquoted(word))
    if (option === undefined) {
      const rest = atImage === 'ends' ? words.slice(at) : [{ text: word }]
      found.unread.push(rest.map(({ text }) => text).join(' '))
      if (atImage === 'ends') return found
      continue
    }
    const next = words[at + 1]?.text
    const isTaken =
      option.kind !== 'other' || (option.takesValue && next !== undefined && !next.startsWith('-'))
    const separate = option.value === undefined && isTaken ? next : undefined
    if (separate !== undefined) at++
    const source = separate === undefined ? word : `${word} ${separate}`
    const value = option.value ?? (separate === undefined ? undefined : unquoted(separate))
    const isRead =
      value !== undefined &&
      (option.isNest && /^\s*-/.test(value)
        ? addNested(found, value)
        : addOption(found, option.kind, value, separate ?? word))
    if (!isRead) found.unread.push(source)
  }
  return found
}

interface Option {
  kind: 'variable' | 'port' | 'other'
  /** Within the option's own word. */
  value?: string
  takesValue: boolean
  /** The service's own command line takes all options in it, as one text. */
  isNest: boolean
}

/** Undefined if it is no option. */
function optionOf(word: string): Option | undefined {
  const [, name = '', value] = /^(--[^=]+)(?:=([\s\S]*))?$/.exec(word) ?? []
  if (name !== '') {
    const kind = name === '--env' ? 'variable' : name === '--publish' ? 'port' : 'other'
    return {
      kind,
      ...(value !== undefined && { value }),
      takesValue: !alone.has(name),
      isNest: name === '--env',
    }
  }
  if (!/^-[A-Za-z]/.test(word)) return undefined
  let at = 1
  while (lettersAlone.includes(word.charAt(at)) && word.charAt(at) !== '') at++
  const letter = word.charAt(at)
  const rest = word.slice(at + 1).replace(/^=/, '')
  const kind = letter === 'e' ? 'variable' : letter === 'p' ? 'port' : 'other'
  return { kind, ...(rest !== '' && { value: rest }), takesValue: letter !== '', isNest: false }
}

/** False where it can't be read. `source`: the word with the value, as it was written. */
function addOption(
  found: DockerOptions,
  kind: 'variable' | 'port' | 'other',
  value: string,
  source: string,
): boolean {
  if (kind === 'other') return false
  if (kind === 'port') {
    const ports = isExpanded(source) ? undefined : readPorts(value)
    if (ports) found.ports.push(...ports)
    return ports !== undefined
  }
  const variable = readVariable(value)
  const name = variable?.name ?? value.trim()
  if (variable && !isExpanded(source)) found.variables.push(variable)
  else if (variableName.test(name)) found.unset.push({ name, text: variable?.value ?? '' })
  else return false
  return true
}

function addNested(found: DockerOptions, text: string): boolean {
  const { words, rest } = firstWords(text)
  if (rest.trim() !== '') return false
  const inner = readOptions(words, 'goes on')
  found.variables.push(...inner.variables)
  found.unset.push(...inner.unset)
  found.ports.push(...inner.ports)
  found.unread.push(...inner.unread)
  return true
}

export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** `NAME=value`; undefined for anything else. */
export function readVariable(text: string): { name: string; value: string } | undefined {
  const equals = text.indexOf('=')
  const name = text.slice(0, Math.max(0, equals))
  return variableName.test(name) ? { name, value: text.slice(equals + 1) } : undefined
}

/** The most ports that one range may have, as a rental takes no more. */
const longestRange = 64

/**
 * The ports of `container`, `outside:container`, `127.0.0.1:outside:container` or `[::1]::container`, each a port or a
 * range, with or without a protocol. Undefined for anything else.
 */
export function readPorts(text: string): PublishedPort[] | undefined {
  const [, mapping = '', suffix = 'tcp'] = /^([^/]*)(?:\/(tcp|udp))?$/i.exec(text.trim()) ?? []
  const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\]):/i.exec(mapping)?.[0] ?? ''
  const parts = mapping.slice(address.length).split(':')
  if (parts.length > 2 || (address !== '' && parts.length < 2)) return undefined
  const inside = portRange(parts.at(-1) ?? '')
  const given = parts.length === 2 ? (parts[0] ?? '') : ''
  // 0 is Docker's word for any port.
  const outside = given === '' || given === '0' ? [] : portRange(given)
  if (!inside || !outside || (outside.length > 0 && outside.length !== inside.length)) return undefined
  const ports = inside.map((container, at) => ({ container, outside: outside[at] }))
  const areSound = ports.every(
    ({ container, outside }) =>
      (container <= 65_535 && (outside ?? 1) <= 65_535) ||
      (container === outside && isIdentityPort(container)),
  )
  const protocol = suffix.toLowerCase() === 'udp' ? 'udp' : 'tcp'
  if (!areSound) return undefined
  return ports.map(({ container, outside }) => ({
    outside: outside === undefined ? '' : String(outside),
    container: String(container),
    protocol,
  }))
}

/** The ports from the first to the last, each at least 1. */
function portRange(text: string): number[] | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const [from, to] = [Number(first), Number(last)]
  if (!(from >= 1 && to >= from && to - from < longestRange)) return undefined
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** `8080`, `9000:80` where the port outside is another, `53/udp`. */
export function portText({ outside, container, protocol }: PublishedPort): string {
  const mapping = outside === '' || outside === container ? container : `${outside}:${container}`
  return protocol === 'udp' ? `${mapping}/udp` : mapping
}
