/** Rows in columns of their content's width; columns whose head begins with `>` are right-aligned. */
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

/** Replaces control characters, since a service or a host may have chosen the text. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
