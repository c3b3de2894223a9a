/**
 * How well words typed match a text: undefined when one of them is not in it, else less is better. Beginnings of
 * words count most, then their order.
 */
export function match(text: string, typed: string): number | undefined {
  const low = text.toLowerCase()
  let score = 0
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = low.indexOf(word)
    if (at < 0) return undefined
    const begins = at === 0 || low.charAt(at - 1) === ' ' || low.includes(` ${word}`)
    score += (begins ? 0 : 100) + at
  }
  return score
}

/** The best `most` of them, best first; all in their own order while nothing is typed. */
export function bestMatches<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  typed: string,
  most: number,
): Item[] {
  if (typed.trim() === '') return items.slice(0, most)
  const scored: { item: Item; score: number }[] = []
  for (const item of items) {
    const score = match(textOf(item), typed)
    if (score !== undefined) scored.push({ item, score })
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ item }) => item)
}
