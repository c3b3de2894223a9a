/** Berth's own font, which is always available. */
const own = '"JetBrains Mono Variable", monospace'

/** CSS names for any font of a kind. */
const kinds = new Set(['monospace', 'ui-monospace', 'system-ui', 'sans-serif', 'serif'])

/** The names in a comma-separated list, without their quotes. */
export function familiesOf(list: string): string[] {
  const names = list.split(',').map(name => name.replaceAll(/["']/g, '').trim())
  return [...new Set(names)].filter(name => name !== '')
}

/** The list in CSS: each name quoted, with Berth's own font at the end. */
export function fontStack(list: string): string {
  return [...familiesOf(list).map(name => (kinds.has(name) ? name : `"${name}"`)), own].join(', ')
}

/** The fonts of a list that are not installed: text in one is as wide as in its fallback. */
export function missingFamilies(list: string): string[] {
  const pen = document.createElement('canvas').getContext('2d')
  const width = (font: string) => {
    if (pen) pen.font = `40px ${font}`
    return pen?.measureText('mmmwwwiiilll0O@#').width
  }
  return familiesOf(list).filter(
    name =>
      !kinds.has(name) && ['monospace', 'serif'].every(kind => width(`"${name}", ${kind}`) === width(kind)),
  )
}
