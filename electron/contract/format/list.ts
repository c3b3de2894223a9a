interface Listing {
  /** The most names to list: people skim longer lists. */
  most?: number
  /** The separator before the last name. */
  last?: string
}

/** Names in a sentence: "a, b and c", or the first ones and the number of the others: "a, b and 7 more". */
export function named(names: readonly string[], { most = 12, last = ' and ' }: Listing = {}): string {
  // "1 more" would take as much room as the name.
  if (names.length > most + 1) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(last)
}
