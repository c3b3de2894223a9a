/** What must be ended when Berth ends: the last begun first. */
export class Shutdown {
  readonly #steps: (() => unknown)[] = []
  readonly #limit: number
  readonly #blocks: (() => boolean)[] = []
  #ended: Promise<void> | undefined

  /** `limit` in milliseconds, for all together: what takes longer is left behind. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Something begun, by the function that ends it. */
  add(end: () => unknown): void {
    this.#steps.push(end)
  }

  /** Tells whether a native call holds a thread: the process could not leave before it comes back. */
  addBlock(isBlocked: () => boolean): void {
    this.#blocks.push(isBlocked)
  }

  /** Ends everything, and then the process by `leave`, or by force where a native call would hold it. */
  async exit(leave: () => void = () => process.exit(0)): Promise<void> {
    await this.end()
    if (this.#blocks.some(isBlocked => isBlocked())) process.kill(process.pid, 'SIGKILL')
    else leave()
  }

  /** Ends everything, once; one that fails does not keep the others from ending. */
  end(): Promise<void> {
    this.#ended ??= this.#endAll()
    return this.#ended
  }

  async #endAll(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>(resolve => {
      timer = setTimeout(resolve, this.#limit)
    })
    const all = async () => {
      // What is begun meanwhile, by a start that goes on, ends too.
      for (let end = this.#steps.pop(); end !== undefined; end = this.#steps.pop())
        await Promise.resolve(end()).catch(() => undefined)
    }
    await Promise.race([all(), limit])
    clearTimeout(timer)
  }
}

/** Ends the process in order when it is told to; being told twice (by the terminal and by npm) is being told once. */
export function endOnSignals(shutdown: Shutdown): void {
  const end = () => void shutdown.exit()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, end)
  }
  // Started by another program of Berth's, which has gone.
  process.on('disconnect', end)
}
