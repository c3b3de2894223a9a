/**
 * How well words typed match a text: undefined when one of them is not in it, else less is better. Whole words count
 * most, then beginnings of words, then their order.
 * @param further words by whose beginnings it is found, too; they count less than any of the text
 */
export function match(text: string, typed: string, further = ''): number | undefined {
  let score = 0
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const found = matchWord(text.toLowerCase(), word) ?? matchFurther(further.toLowerCase(), word)
    if (found === undefined) return undefined
    score += found
  }
  return score
}

function matchWord(low: string, word: string): number | undefined {
  const at = low.indexOf(word)
  if (at < 0) return undefined
  const padded = ` ${low} `
  return at + (padded.includes(` ${word} `) ? 0 : padded.includes(` ${word}`) ? 100 : 200)
}

/** Within a word nobody sees why: "move" is not meant by "remove". */
function matchFurther(low: string, word: string): number | undefined {
  const at = ` ${low}`.indexOf(` ${word}`)
  return at < 0 ? undefined : 300 + at
}

/** The best `most` matches, best first; all entries in their own order while nothing is typed. */
export function bestMatches<Item>(
  items: readonly Item[],
  textOf: (item: Item) => readonly [text: string, further?: string],
  typed: string,
  most: number,
): Item[] {
  if (typed.trim() === '') return items.slice(0, most)
  const scored: { item: Item; score: number }[] = []
  for (const item of items) {
    const [text, further] = textOf(item)
    const score = match(text, typed, further)
    if (score !== undefined) scored.push({ item, score })
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ item }) => item)
}

/** Splits a text into pieces, with the typed ones marked. */
export function pieces(text: string, typed: string): { text: string; hit: boolean }[] {
  const low = text.toLowerCase()
  const hits = typed
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map(word => ({ from: low.indexOf(word), to: low.indexOf(word) + word.length }))
    .filter(({ from }) => from >= 0)
    .sort((a, b) => a.from - b.from)
  const parts: { text: string; hit: boolean }[] = []
  let at = 0
  for (const { from, to } of hits) {
    if (from < at) continue
    if (from > at) parts.push({ text: text.slice(at, from), hit: false })
    parts.push({ text: text.slice(from, to), hit: true })
    at = to
  }
  return at < text.length ? [...parts, { text: text.slice(at), hit: false }] : parts
}
