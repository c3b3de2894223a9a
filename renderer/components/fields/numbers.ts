/**
 * The number in typed text, with or without its unit (`$1,200.50`, `40 GB`, `0.31/h`); undefined for empty text, NaN
 * for anything else. A comma before groups of three digits separates thousands, as in `1,200`; any other one is a
 * decimal comma, as in `0,31` and `1,5`.
 */
export function typedNumber(text: string): number | undefined {
  const bare = withoutUnit(text)
  if (bare === '') return undefined
  if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare)) return Number(bare.replaceAll(',', ''))
  const pointed = bare.replace(/^(-?\d*),(\d+)$/, '$1.$2')
  return /^-?(\d+(\.\d*)?|\.\d+)$/.test(pointed) ? Number(pointed) : Number.NaN
}

/** A number as a user would type it, without binary rounding noise: 98.50000001 is 98.5. */
export function asTyped(value: number): string {
  return String(Number(value.toFixed(4)))
}

function withoutUnit(text: string): string {
  return text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(/(GB|\/h|%|Mb\/s)$/i, '')
    .trim()
}
