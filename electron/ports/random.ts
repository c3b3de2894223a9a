export interface Random {
  /** Cryptographically random hexadecimal digits. */
  hex(digits: number): string
  /** From 0 up to 1, for jitter. */
  fraction(): number
}
