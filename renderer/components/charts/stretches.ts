/**
 * The longest gap between samples, in seconds, across which a line is drawn: three times the shortest distance between
 * two.
 * @param least the shortest distance that is assumed, in seconds
 */
export function longestKnown(samples: readonly { at: number }[], least: number): number {
  const steps = samples.slice(1).map(({ at }, before) => at - (samples[before]?.at ?? at))
  return 3 * Math.max(least, steps.length === 0 ? 0 : Math.min(...steps))
}

/** Splits samples wherever more than `longest` seconds lie between two, as no line is drawn across the gap. */
export function stretches<Seen extends { at: number }>(seen: readonly Seen[], longest: number): Seen[][] {
  const parts: Seen[][] = []
  for (const sample of seen) {
    const part = parts.at(-1)
    const before = part?.at(-1)
    if (part && before && sample.at - before.at <= longest) part.push(sample)
    else parts.push([sample])
  }
  return parts
}

/** The `d` of a line through points; a single one is a dot, drawn by round line caps. */
export function linesThrough(places: readonly string[]): string {
  return `M${(places.length === 1 ? [...places, ...places] : places).join('L')}`
}
