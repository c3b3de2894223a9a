/** Berth's own, which is always there. */
const own = '"JetBrains Mono Variable", monospace'

/** Names that stand for whatever this computer has of a kind. */
const kinds = new Set(['monospace', 'ui-monospace', 'system-ui', 'sans-serif', 'serif'])

/** The names of a list with commas, as people copy it from elsewhere, without their quotes. */
export function familiesOf(list: string): string[] {
  const names = list.split(',').map(name => name.replaceAll(/["']/g, '').trim())
  return [...new Set(names)].filter(name => name !== '')
}

/** The list as CSS has it: each name within quotes, Berth's own at the end. */
export function fontStack(list: string): string {
  return [...familiesOf(list).map(name => (kinds.has(name) ? name : `"${name}"`)), own].join(', ')
}

/** Those of a list that this computer does not have: text in them is as wide as in what stands in for them. */
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
