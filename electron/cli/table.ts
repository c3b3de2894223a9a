/** Rows in columns as wide as they must be; those that begin with `>` are aligned to the right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const right = heads.map(head => head.startsWith('>'))
  const names = heads.map(head => head.replace('>', ''))
  const all = [names, ...rows.map(row => row.map(plain))]
  const widths = names.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (right[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return `${all.map(line).join('\n')}\n`
}

/** A service, a host or the user may have chosen it: nothing of it moves the cursor. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
