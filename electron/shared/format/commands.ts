import { harmlessInFull } from '../instance/file-names.ts'

/** A line of commands, or a gap of so many blank ones. */
export interface CommandLine {
  text: string
  blank?: number
}

/** Blank lines in a row that are shown as they are. */
const mostBlank = 2

/**
 * The lines of commands that a stranger may have written, for the user to read before they run: characters that hide or
 * mislead are escaped, and a gap of blank lines, which could move what follows out of sight, is counted.
 */
export function commandLines(text: string): CommandLine[] {
  const lines: CommandLine[] = []
  let gap: string[] = []
  const close = () => {
    if (gap.length > mostBlank) lines.push({ text: '', blank: gap.length })
    else lines.push(...gap.map(blank => ({ text: blank })))
    gap = []
  }
  for (const line of text.trimEnd().split(/\r?\n/)) {
    const shown = line.split('\t').map(harmlessInFull).join('\t')
    if (shown.trim() === '') gap.push('')
    else {
      close()
      lines.push({ text: shown.replaceAll(/\s{40,}/g, spaces => ` (${spaces.length} spaces) `) })
    }
  }
  close()
  return lines
}
