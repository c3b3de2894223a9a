import { outputRows } from '#contract/automation/output-rows.ts'

/** Rows at the end that are searched, what is read of each, and how many names are kept. */
const near = { rows: 50, characters: 2000 }
const mostNames = 20

/** A figure as programs print it. `nan` and `inf` are none that could be sorted. */
const figure = String.raw`([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])`
/** `loss=0.31`, `loss = 0.31` and `loss: 0.31`; of `localhost:6006` or `12:30` nothing. */
const pair = new RegExp(
  String.raw`(?<![\w./-])([A-Za-z][\w./-]{0,39}?)(?: {0,2}= {0,2}|: {1,3})${figure}`,
  'g',
)

/** The numbers that a program printed last, by their names: from `loss=0.31`, and from lines of JSON. */
export function printedNumbers(
  text: string,
  before: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const numbers = new Map(Object.entries(before))
  for (const row of outputRows(near)(text))
    for (const [name, value] of numbersIn(row)) numbers.set(name, value)
  return Object.fromEntries([...numbers].slice(0, mostNames))
}

function numbersIn(row: string): [name: string, value: number][] {
  const line = row.trim()
  if (line.startsWith('{') && line.endsWith('}')) return numbersOf(line)
  return [...line.matchAll(pair)].map(([, name = '', value]) => [name, Number(value)])
}

function numbersOf(json: string): [name: string, value: number][] {
  try {
    return Object.entries(JSON.parse(json) as Record<string, unknown>).flatMap(([name, value]) =>
      typeof value === 'number' && name.length <= 40 ? [[name, value]] : [],
    )
  } catch {
    return []
  }
}
