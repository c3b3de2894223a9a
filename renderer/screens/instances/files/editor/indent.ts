/** One step of indentation in a text: that of its first indented line, else the usual one for the file's name. */
export function indentOf(text: string, name: string): string {
  const begins = /^(\t| {2,8})(?=\S)/m.exec(text)?.[1]
  if (begins !== undefined) return begins
  if (/^makefile$/i.test(name)) return '\t'
  return name.endsWith('.py') ? '    ' : '  '
}
