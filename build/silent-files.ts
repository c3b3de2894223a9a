import {
  ForksPoolWorker,
  type PoolOptions,
  type PoolRunnerInitializer,
  type WorkerRequest,
} from 'vitest/node'
import { killTree } from './process-tree.ts'

/** Looks at a worker so often within the time that it may be silent. */
const looks = 12

/** Milliseconds that a test file may be silent, from `BERTH_TEST_SILENCE` in seconds: three minutes without it. */
const allowed = 1000 * Number(process.env['BERTH_TEST_SILENCE'] || 180)

/**
 * Vitest's processes for test files, where a file that says nothing for three minutes is killed with all it started:
 * neither a test begins or ends, nor is anything imported or printed. A blocked thread runs no timer of its own, so
 * vitest's time-outs alone would wait for ever. `running`: the files that have begun and not ended.
 */
export function silentFilesEnd(running: ReadonlySet<string>): PoolRunnerInitializer {
  return {
    name: 'forks that speak',
    createPoolWorker: options => new SpeakingFork(options, running),
  }
}

class SpeakingFork extends ForksPoolWorker {
  override readonly name = 'forks that speak'
  readonly #running: ReadonlySet<string>
  #files: readonly string[] = []
  #silent = 0
  #watch: NodeJS.Timeout | undefined
  #end = () => undefined as unknown

  constructor(options: PoolOptions, running: ReadonlySet<string>) {
    super(options)
    this.#running = running
  }

  override async start(): Promise<void> {
    await super.start()
    const { pid } = this['fork'] as { pid?: number }
    if (pid === undefined) return
    // Vitest leaves a worker behind that blocks while it is asked to stop.
    this.#end = () => killTree(pid)
    process.once('exit', this.#end)
    this.on('message', message => {
      this.#silent = 0
      if (message?.type === 'testfileFinished') this.#rest()
    })
    this.on('exit', () => {
      this.#rest()
      process.off('exit', this.#end)
    })
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'run' || message.type === 'collect') {
      this.#rest()
      this.#files = message.context.files.map(({ filepath }) => filepath)
      // Counted in looks, since a process that stood still itself has heard nothing for that time.
      this.#watch = setInterval(() => this.#look(), allowed / looks)
    }
    super.send(message)
  }

  #look(): void {
    this.#silent += 1
    if (this.#silent < looks) return
    this.#rest()
    const begun = this.#files.filter(file => this.#running.has(file))
    const named = (begun.length > 0 ? begun : this.#files).join(', ')
    process.stderr.write(`\nKilled, since it said nothing for ${allowed / 1000} seconds: ${named}\n`)
    this.#end()
  }

  #rest(): void {
    clearInterval(this.#watch)
    this.#silent = 0
  }
}
