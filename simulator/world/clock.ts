/** World time: starts at the real time, or at another, and runs `speed` times as fast. Never runs backwards. */
export class WorldClock {
  readonly speed: number
  readonly #started: number
  readonly #realStart = performance.now()
  #advanced = 0

  /** `started`: milliseconds since 1970. */
  constructor(speed: number, started: number = Date.now()) {
    this.speed = speed
    this.#started = started
  }

  /** World time in whole milliseconds since 1970. */
  now(): number {
    return Math.floor(this.#started + this.#advanced + (performance.now() - this.#realStart) * this.speed)
  }

  /** Moves world time forward, by whole milliseconds. */
  advance(seconds: number): void {
    this.#advanced += Math.round(seconds * 1000)
  }
}

/** World time as the interface writes it: seconds since 1970, with fractions. */
export function epochSeconds(milliseconds: number): number {
  return milliseconds / 1000
}
