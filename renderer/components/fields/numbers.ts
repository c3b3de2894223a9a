/**
 * The number in what was typed, with or without its unit (`$1,200.50`, `40 GB`, `0.31/h`); undefined for nothing,
 * NaN for what is no number. A comma is only taken between groups of three digits: `0,31` is not guessed at.
 */
export function typedNumber(text: string): number | undefined {
  const bare = withoutUnit(text)
  if (bare === '') return undefined
  if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare)) return Number(bare.replaceAll(',', ''))
  return /^-?(\d+\.?\d*|\.\d+)$/.test(bare) ? Number(bare) : Number.NaN
}

/** What to say of a number whose decimals come after a comma: how to write it instead. Undefined of any other text. */
export function commaAdvice(text: string): string | undefined {
  const bare = withoutUnit(text)
  if (!Number.isNaN(typedNumber(text)) || !/^-?\d*,\d+$/.test(bare)) return undefined
  return `Write it with a point: ${bare.replace(/^(-?),/, '$10,').replace(',', '.')}.`
}

function withoutUnit(text: string): string {
  return text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(/\s*(GB|\/h|%|Mb\/s)$/i, '')
    .trim()
}
