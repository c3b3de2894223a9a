/**
 * The columns and parts of a row that need a minimal table width (pixels), the least important first. Each leaves the
 * name 96 pixels, in which an instance's number fits.
 */
const leastWidths = {
  id: 1180,
  gpuMemory: 1094,
  uptime: 1066,
  vram: 980,
  jupyter: 864,
  spent: 798,
  words: 730,
  load: 672,
  gpu: 546,
  price: 424,
} as const

export type Part = keyof typeof leastWidths

/** The parts that fit a table's width in pixels; all of them before it is measured (0). */
export function partsFor(width: number): ReadonlySet<Part> {
  const parts = Object.entries(leastWidths) as [Part, number][]
  return new Set(parts.filter(([, least]) => width === 0 || width >= least).map(([part]) => part))
}
