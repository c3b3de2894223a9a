import { outputRows } from '#shared/automation/output-rows.ts'
import type { PrintedNumber } from '#shared/automation/run.ts'

/** Rows at the end that are searched, what is read of each, and how many names are kept. */
const near = { rows: 50, characters: 2000 }
const mostNames = 20

/** A figure as programs print it, with commas between thousands, or what stands in its place where it has none. */
const figure = String.raw`([+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?))`
/** Of times, dates, versions, addresses, ranges and lists the first part is no figure. */
const end = String.raw`(?!\w|[.,:-]\w|\/\d+\/| days?\b)`
/** `loss=0.31`, `loss = 0.31` and `loss: 0.31`; of `localhost:6006` nothing. */
const pair = new RegExp(
  String.raw`(?<![\w./-])([a-z][\w./-]{0,39}?)(?: {0,2}= {0,2}|: {1,3})${figure}${end}`,
  'gi',
)
/** `'loss': 0.31` or `'loss': '0.31'`, as the trainers of Hugging Face print, and the same of JSON behind other text. */
const entry = new RegExp(
  String.raw`(?:'([a-z][\w./ -]{0,39})'|"([a-z][\w./ -]{0,39})"): {0,3}(?:'${figure}'|${figure}${end})`,
  'gi',
)

/** The numbers that a program printed last, by their names: from `loss=0.31`, Python's dictionaries, and lines of JSON. */
export function printedNumbers(
  text: string,
  before: Readonly<Record<string, PrintedNumber>> = {},
): Record<string, PrintedNumber> {
  const numbers = new Map(Object.entries(before))
  for (const row of outputRows(near)(text))
    for (const [name, value] of numbersIn(row)) numbers.set(name, value)
  return Object.fromEntries([...numbers].slice(0, mostNames))
}

type Named = [name: string, value: PrintedNumber]

function numbersIn(row: string): Named[] {
  const line = row.trim()
  const read = line.startsWith('{') && line.endsWith('}') ? numbersOf(line) : undefined
  return (
    read ?? [
      ...[...line.matchAll(pair)].flatMap(([, name = '', value]) => named(name, value)),
      ...[...line.matchAll(entry)].flatMap(([, single, double, quoted, value]) =>
        named(single ?? double ?? '', quoted ?? value),
      ),
    ]
  )
}

function named(name: string, text = ''): Named[] {
  const unsigned = text.replace(/^[+-]/, '').toLowerCase()
  if (unsigned === 'nan') return [[name, 'nan']]
  if (unsigned.startsWith('inf')) return [[name, text.startsWith('-') ? '-inf' : 'inf']]
  // Programs print one digit before the point of an exponent, and its sign if it is long: the rest is a commit's hash.
  if (/^\d{2,}e\d|e\d{3}/.test(unsigned)) return []
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? [[name, value]] : []
}

/** Stands before what Python's JSON has in place of numbers, and in no other text of it. */
const mark = '\u0000'

/** The numbers of an object in JSON; undefined where it is none. */
function numbersOf(json: string): Named[] | undefined {
  const pure = json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, part =>
    part.startsWith('"') ? part : JSON.stringify(`${mark}${part}`),
  )
  try {
    return Object.entries(JSON.parse(pure) as Record<string, unknown>).flatMap(([name, value]): Named[] => {
      if (name.length > 40) return []
      if (typeof value === 'string' && value.startsWith(mark)) return named(name, value.slice(1))
      return typeof value === 'number' && Number.isFinite(value) ? [[name, value]] : []
    })
  } catch {
    return undefined
  }
}
