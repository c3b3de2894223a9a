/** Berth's log. Every line passes through a mask for secrets. */
export interface Log {
  line(text: string): void
  /** Masks this secret from now on, wherever it appears. */
  learn(secret: string): void
  /** The text with all known and likely secrets masked. */
  mask(text: string): string
  /** The newest lines, oldest first, also from earlier starts. */
  recent(): readonly string[]
}
