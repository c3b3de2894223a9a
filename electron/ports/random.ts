export interface Random {
  /** So many hexadecimal digits nobody can guess. */
  hex(digits: number): string
  /** From 0 up to 1, for jitter. */
  fraction(): number
}
