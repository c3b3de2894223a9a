/** Rows kept, as many as a page has lines, and characters kept of each row. */
export const bounds = { rows: 1000, characters: 16_384 }

/**
 * Renders output as a terminal would: `\r` overwrites the row, `\v` goes to the row above, as progress bars need it.
 * Returns all rows after each piece.
 */
export function outputRows(most = bounds): (text: string) => readonly string[] {
  let rows: string[] = ['']
  let at = 0
  /** Whether the next character overwrites the row. */
  let over = false

  function print(text: string): void {
    const row = over ? '' : (rows[at] ?? '')
    over = false
    if (row.length > most.characters) return
    const all = row + text
    rows[at] = all.length > most.characters ? `${all.slice(0, most.characters)} …` : all
  }

  return text => {
    rows = [...rows]
    for (const piece of text.split(/([\n\r\v])/)) {
      if (piece === '') continue
      if (piece === '\r') over = true
      else if (piece === '\n') {
        at += 1
        over = true
        if (at === rows.length) rows.push('')
      } else if (piece === '\v') {
        at = Math.max(0, at - 1)
        over = true
      } else print(piece)
    }
    const surplus = Math.min(at, rows.length - most.rows)
    if (surplus > 0) {
      rows = rows.slice(surplus)
      at -= surplus
    }
    return rows
  }
}

/** The rows of a page, without the empty row after its last line. */
export function rowsOfPage(text: string): readonly string[] {
  const rows = outputRows()(text)
  return rows.at(-1) === '' ? rows.slice(0, -1) : rows
}
