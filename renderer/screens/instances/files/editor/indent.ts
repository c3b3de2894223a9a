/** What one step of indentation is in a text: what its lines begin with, else what is usual in such a file. */
export function indentOf(text: string, name: string): string {
  const begins = /^(\t| {2,8})(?=\S)/m.exec(text)?.[1]
  if (begins !== undefined) return begins
  if (/^makefile$/i.test(name)) return '\t'
  return name.endsWith('.py') ? '    ' : '  '
}
