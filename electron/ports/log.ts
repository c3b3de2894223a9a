/** Where Berth writes down what it does. Whatever is said passes through one mask, which keeps secrets out. */
export interface Log {
  line(text: string): void
  /** From here on this is covered wherever it appears, whatever it looks like. */
  learn(secret: string): void
  /** The same text with all that is, or may be, a secret covered. */
  mask(text: string): string
  /** The newest lines, oldest first, those of earlier starts too. */
  recent(): readonly string[]
}
