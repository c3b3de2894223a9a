/** Rows kept, as many as a page has lines, and characters kept of each row. */
export const bounds = { rows: 1000, characters: 16_384 }

/** Characters that stand for a terminal's moves in plain output, which contains no other control characters. */
export const moves = {
  /** To the beginning of the row. */
  start: '\r',
  /** To the next row, and to the one above. */
  down: '\n',
  up: '\v',
  left: '\b',
  right: '\f',
  /** Clears the row from here on. */
  clear: '\u007f',
  /** Remembers the place, and returns to it. */
  save: '\u000e',
  restore: '\u000f',
} as const

/**
 * Renders plain output as a terminal would. Text printed over a row replaces the rest of it, as programs redraw whole
 * rows. Returns all rows after each piece.
 */
export function outputRows(most = bounds): (text: string) => readonly string[] {
  let rows: string[] = ['']
  let [at, column] = [0, 0]
  let saved = { at, column }

  function print(text: string): void {
    const row = rows[at] ?? ''
    if (column > most.characters) return
    const all = (column > row.length ? row.padEnd(column) : row.slice(0, column)) + text
    column = all.length
    rows[at] = all.length > most.characters ? `${all.slice(0, most.characters)} …` : all
  }

  function move(sign: string): boolean {
    if (sign === moves.start) column = 0
    else if (sign === moves.left) column = Math.max(0, column - 1)
    else if (sign === moves.right) column = Math.min(most.characters, column + 1)
    else if (sign === moves.clear) rows[at] = (rows[at] ?? '').slice(0, column)
    else if (sign === moves.save) saved = { at, column }
    else if (sign === moves.restore) ({ at, column } = saved)
    else if (sign === moves.down) [at, column] = [at + 1, 0]
    else if (sign === moves.up) [at, column] = [Math.max(0, at - 1), 0]
    else return false
    if (at === rows.length) rows.push('')
    return true
  }

  return text => {
    rows = [...rows]
    for (const piece of text.split(separator)) if (piece !== '' && !move(piece)) print(piece)
    const surplus = Math.min(at, rows.length - most.rows)
    if (surplus > 0) {
      rows = rows.slice(surplus)
      at -= surplus
      saved = { at: Math.max(0, saved.at - surplus), column: saved.column }
    }
    return rows
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the moves above.
const separator = /([\n\r\v\b\f\u007f\u000e\u000f])/

/** The rows of a page, without the empty row after its last line. */
export function rowsOfPage(text: string): readonly string[] {
  const rows = outputRows()(text)
  return rows.at(-1) === '' ? rows.slice(0, -1) : rows
}
