/** Leaves the second screen, which editors and pagers draw on. */
const leaveSecond = '\x1b[?1049l'

/**
 * What makes a terminal fit for another shell once the connection of one has broken: it may have gone in the midst of
 * anything. `second` is whether the second screen is shown: leaving one that is not would move the cursor to where it
 * was last saved.
 */
export function calmed(second: boolean): string {
  return [
    // Breaks off what was half said: with what follows it would be taken for whole.
    '\x18',
    second ? leaveSecond : '',
    // Drawing that is held back goes on, and a line feed is no more than that.
    '\x1b[?2026l\x1b[20l',
    // A soft reset: colours, hidden cursor, marked pastes, told focus, keypad, insertion, origin, region, wrapping, letters.
    '\x1b[!p',
    // What no soft reset reaches: the mouse, and how it is told.
    '\x1b[?1000l\x1b[?1006l',
  ].join('')
}
