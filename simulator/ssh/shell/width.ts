const none = /^[\p{Mn}\p{Me}\p{Cf}\p{Emoji_Modifier}]$/u
const double =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u

/** Terminal columns that a character takes: 0 (it joins the one before), 1 or 2. */
export function width(character: string): number {
  if (character >= ' ' && character <= '~') return 1
  if (none.test(character)) return 0
  return double.test(character) ? 2 : 1
}

/** The cursor's position after these characters, on a screen so many columns wide, starting at column `from`. */
export function position(
  characters: string[],
  columns: number,
  from: number,
): { row: number; column: number } {
  let row = Math.floor(from / columns)
  let column = from % columns
  for (const character of characters) {
    const taken = width(character)
    if (column + taken > columns) {
      row += 1
      column = 0
    }
    column += taken
    if (column >= columns) {
      row += 1
      column = 0
    }
  }
  return { row, column }
}
