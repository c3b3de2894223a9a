/**
 * Seconds without a sample from which on nothing is known of the time between two: three times what usually lies
 * between them.
 * @param least what lies between two at least, seconds
 */
export function longestKnown(samples: readonly { at: number }[], least: number): number {
  const steps = samples.slice(1).map(({ at }, before) => at - (samples[before]?.at ?? at))
  return 3 * Math.max(least, steps.length === 0 ? 0 : Math.min(...steps))
}

/** What was seen, parted where more than `longest` seconds lie between two samples: no line is drawn across. */
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

/** The `d` of a line through places; one alone is a dot, where the line's ends are round. */
export function linesThrough(places: readonly string[]): string {
  return `M${(places.length === 1 ? [...places, ...places] : places).join('L')}`
}
