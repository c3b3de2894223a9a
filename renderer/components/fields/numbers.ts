/**
 * The number in what was typed, with or without its unit (`$1,200.50`, `40 GB`, `0.31/h`); undefined for nothing,
 * NaN for what is no number. A comma between groups of three digits parts them, as in `1,200`; any other one comes
 * before the decimals, as in `0,31` and `1,5`.
 */
export function typedNumber(text: string): number | undefined {
  const bare = withoutUnit(text)
  if (bare === '') return undefined
  if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare)) return Number(bare.replaceAll(',', ''))
  const pointed = bare.replace(/^(-?\d*),(\d+)$/, '$1.$2')
  return /^-?(\d+(\.\d*)?|\.\d+)$/.test(pointed) ? Number(pointed) : Number.NaN
}

/** A number as one types it, without the noise of binary fractions: 98.50000001 is 98.5. */
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
