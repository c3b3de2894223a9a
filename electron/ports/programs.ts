/** Other programs on this machine. Arguments are a list and reach the program unchanged: no shell is involved. */
export interface Programs {
  /** The absolute path of a program on the PATH, or undefined. */
  find(name: string): Promise<string | undefined>
  /**
   * Starts a program that outlives Berth. Rejects if it cannot be started. With `untilEnd`, for a short one: resolves
   * at its end, and rejects with its last output if it fails, or runs for over a minute.
   */
  launch(program: string, args: readonly string[], how?: { untilEnd: boolean }): Promise<void>
}
