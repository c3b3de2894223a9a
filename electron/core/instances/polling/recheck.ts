/** Milliseconds: a proxy's hiccup passes in seconds, a key that was revoked must cost next to nothing. */
const first = 3_000
const longest = 300_000

/**
 * Milliseconds until what the service refused the key for is tried again, after so many refusals in a row: doubling,
 * with a quarter of jitter either way. `random`: 0 to 1.
 */
export function pauseAfterRefusal(refusals: number, random: number): number {
  return Math.min(longest, first * 2 ** Math.min(refusals - 1, 16)) * (0.75 + random * 0.5)
}
