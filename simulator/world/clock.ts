/** World time: starts at the real time and runs `speed` times as fast. Never runs backwards. */
export class WorldClock {
  readonly speed: number
  readonly #started: number
  readonly #realStart = performance.now()
  #advanced = 0

  constructor(speed: number) {
    this.speed = speed
    this.#started = Date.now()
  }

  /** World time in whole milliseconds since 1970. */
  now(): number {
    return Math.floor(this.#started + this.#advanced + (performance.now() - this.#realStart) * this.speed)
  }

  /** Moves world time forward. */
  advance(seconds: number): void {
    this.#advanced += seconds * 1000
  }
}

/** World time as the interface writes it: seconds since 1970, with fractions. */
export function epochSeconds(milliseconds: number): number {
  return milliseconds / 1000
}
