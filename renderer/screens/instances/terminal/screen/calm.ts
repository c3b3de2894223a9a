/** Leaves the alternate screen, which editors and pagers draw on. */
const leaveSecond = '\x1b[?1049l'

/**
 * The escape sequences that reset a terminal for another shell after a lost connection, which may have ended in the
 * middle of a sequence. `second`: whether the alternate screen is shown; leaving it otherwise would move the cursor to
 * its saved place.
 */
export function calmed(second: boolean): string {
  return [
    // Cancels a half-received sequence, which the next bytes would complete.
    '\x18',
    second ? leaveSecond : '',
    // Ends synchronized output, and the mode in which a line feed also returns the carriage.
    '\x1b[?2026l\x1b[20l',
    // A soft reset: colours, cursor, bracketed paste, focus reports, keypad, insert mode, origin, region, wrapping, charset.
    '\x1b[!p',
    // Mouse reporting and its encodings, which a soft reset leaves on.
    '\x1b[?1000l\x1b[?1006l',
  ].join('')
}
