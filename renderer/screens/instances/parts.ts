/** The columns and parts of a row that need a minimal table width (pixels), the least important first. */
const leastWidths = {
  id: 1180,
  gpuMemory: 1090,
  uptime: 1060,
  vram: 976,
  jupyter: 860,
  spent: 790,
  words: 724,
  load: 640,
  gpu: 530,
  price: 410,
} as const

export type Part = keyof typeof leastWidths

/** The parts that fit a table's width in pixels; all of them before it is measured (0). */
export function partsFor(width: number): ReadonlySet<Part> {
  const parts = Object.entries(leastWidths) as [Part, number][]
  return new Set(parts.filter(([, least]) => width === 0 || width >= least).map(([part]) => part))
}
