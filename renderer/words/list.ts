/** As many names as are read before one skims. */
const most = 12

/** Names in a sentence: all of them, or the first ones and how many more there are. */
export function named(names: readonly string[]): string {
  // One more would take no less room than its name.
  if (names.length <= most + 1) return names.join(', ')
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}
