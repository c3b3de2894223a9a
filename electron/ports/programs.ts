/** Other programs on this machine. Arguments are a list and reach the program as they are: there is never a shell. */
export interface Programs {
  /** The absolute path of a program on the PATH, or undefined. */
  find(name: string): Promise<string | undefined>
  /**
   * Starts it on its own, so that it outlives Berth. Rejects when it cannot be started. With `untilEnd`, for one that
   * ends soon: resolves when it has, and rejects with what it said last when it failed, or ran for over a minute.
   */
  launch(program: string, args: readonly string[], how?: { untilEnd: boolean }): Promise<void>
}
