/**
 * The number in what was typed, with or without its unit (`$1,200.50`, `40 GB`, `0.31/h`); undefined for nothing,
 * NaN for what is no number. A comma is only taken between groups of three digits: `0,31` is not guessed at.
 */
export function typedNumber(text: string): number | undefined {
  const bare = text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(/\s*(GB|\/h|%|Mb\/s)$/i, '')
    .trim()
  if (bare === '') return undefined
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare)) return Number(bare.replaceAll(',', ''))
  return /^-?(\d+\.?\d*|\.\d+)$/.test(bare) ? Number(bare) : Number.NaN
}
