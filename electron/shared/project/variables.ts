import * as v from 'valibot'
import { EnvName } from '../market/rent-request.ts'

/**
 * Names that a shell keeps for itself or goes by: as variables of a project they would not arrive as written, or would
 * break the commands. Bash's other names all begin with BASH.
 */
const keptNames = new Set(
  `PATH HOME IFS PWD OLDPWD SHELL SHLVL _ ENV CDPATH SHELLOPTS POSIXLY_CORRECT GLOBIGNORE EXECIGNORE UID EUID PPID GROUPS
  OPTIND OPTARG OPTERR LINENO RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME FUNCNAME DIRSTACK HISTCMD PIPESTATUS PS4
  PROMPT_COMMAND TMOUT`.split(/\s+/),
)

/** Why a project can't set a variable of that name; undefined where it can. */
export function variableProblem(name: string): string | undefined {
  const read = v.safeParse(VariableName, name)
  return read.success ? undefined : `takes ${read.issues[0].message}`
}

/** The name of a variable that a project or a sweep sets. */
export const VariableName = v.pipe(
  EnvName,
  v.check(name => !/^berth_/i.test(name), 'names that don’t begin with BERTH_, which Berth sets'),
  v.check(
    name => !/^(?:BASH|LD_)/.test(name) && !keptNames.has(name),
    ({ input }) => `no name that the shell keeps for itself. Set it in a command: ${input}=… python train.py`,
  ),
)

/** The text of a variable, as the file has it. The system takes none of 128 KB, or with the character NUL. */
export const VariableText = v.pipe(
  v.string(),
  v.maxBytes(100_000, 'at most 100,000 bytes'),
  v.check(text => !text.includes('\0'), 'a variable can’t contain the character NUL'),
)

/**
 * The texts of a list such as `1e-4, "a, b", {"x": 1, "y": 2}`: commas in quotes, and in the brackets with which a text
 * begins, separate nothing. Quotes around a whole text are left out. A problem says what the list lacks.
 */
export function textsIn(list: string): { texts: string[] } | { problem: string } {
  const texts: string[] = []
  let at = 0
  for (;;) {
    const found = textAt(list, at)
    if ('problem' in found) return found
    texts.push(found.text)
    if (found.end >= list.length) return { texts }
    at = found.end + 1
  }
}

/** The text at a place of a list, and where the comma after it is, or the list's end. */
function textAt(list: string, from: number): { text: string; end: number } | { problem: string } {
  const begin = from + (/^\s*/.exec(list.slice(from))?.[0].length ?? 0)
  const first = list[begin] ?? ''
  if (first === '"' || first === "'") return quotedAt(list, begin)
  const end = '{['.includes(first) && first !== '' ? endOfBrackets(list, begin) : commaAfter(list, begin)
  if (end === undefined)
    return { problem: `${first} is not closed. Write '"${first}…"' for a text that begins with it` }
  const text = list.slice(begin, end).trim()
  return text === '' ? { problem: 'a value is missing. Write "" for an empty one' } : { text, end }
}

function quotedAt(list: string, begin: number): { text: string; end: number } | { problem: string } {
  const quoted = /^"(?:[^"\\]|\\.)*"|^'[^']*'/s.exec(list.slice(begin))?.[0]
  if (quoted === undefined) return { problem: `the quote ${list[begin]} is not closed` }
  const after = begin + quoted.length
  const end = commaAfter(list, after)
  if (list.slice(after, end).trim() !== '') return { problem: `after ${quoted} comes no comma` }
  return { text: quoted.startsWith("'") ? quoted.slice(1, -1) : unescaped(quoted), end }
}

/** As JSON has it, or as it stands where it is none: `"C:\data"`. */
function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

function commaAfter(list: string, from: number): number {
  const comma = list.indexOf(',', from)
  return comma < 0 ? list.length : comma
}

/** The first comma outside of brackets and the quotes in them; undefined where one is not closed. */
function endOfBrackets(list: string, begin: number): number | undefined {
  let depth = 0
  const parts = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs
  parts.lastIndex = begin
  for (let part = parts.exec(list); part; part = parts.exec(list)) {
    if (part[0] === ',' && depth === 0) return part.index
    if (part[0] === '{' || part[0] === '[') depth++
    if (part[0] === '}' || part[0] === ']') depth--
  }
  return depth === 0 ? list.length : undefined
}

/** Texts as a list from which `textsIn` reads the same. */
export function listOfTexts(texts: readonly string[]): string {
  return texts.map(text => (isPlain(text) ? text : JSON.stringify(text))).join(', ')
}

/** Whether a text needs no quotes in a list. In brackets only JSON is sure to end where it seems to. */
function isPlain(text: string): boolean {
  if (/[\r\n]/.test(text)) return false
  if (/^[{[]/.test(text) && !isJson(text)) return false
  const read = textsIn(text)
  return 'texts' in read && read.texts.length === 1 && read.texts[0] === text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
