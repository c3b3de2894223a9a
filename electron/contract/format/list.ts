interface Listing {
  /** How many are named where there are many: as many as are read before one skims. */
  most?: number
  /** What stands before the last one. */
  last?: string
}

/** Names in a sentence: "a, b and c", or the first ones and how many more there are: "a, b and 7 more". */
export function named(names: readonly string[], { most = 12, last = ' and ' }: Listing = {}): string {
  // One more would take no less room than its name.
  if (names.length > most + 1) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(last)
}
