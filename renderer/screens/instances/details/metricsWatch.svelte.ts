import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { PageStream } from '#renderer/bridge/stream.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { InstanceMetrics } from '#shared/instance/metrics.ts'
import type { Problem } from '#shared/problem.ts'

/** Milliseconds before the next try after a failed or lost connection. */
const pause = 5000

/** Reads one instance's metrics over SSH while they are shown. */
export class MetricsWatch {
  problem: Problem | undefined = $state.raw()
  /** The latest metrics, while it is connected. */
  metrics: InstanceMetrics | undefined = $state.raw()
  readonly #page: Page
  readonly #instance: () => InstanceView
  #stream: PageStream | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #running = false
  #stopped = false

  constructor(page: Page, instance: () => InstanceView) {
    this.#page = page
    this.#instance = instance
  }

  async start(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#running) return
    this.#running = true
    try {
      const answer = await this.#page.berth.watchMetrics({ instance: this.#instance().id })
      const stream = this.#page.stream(answer.stream)
      if (this.#stopped) return stream.close()
      this.#stream = stream
      this.problem = undefined
      const read = lineReader(line => {
        this.metrics = JSON.parse(line) as InstanceMetrics
      })
      stream.read(
        bytes => {
          read(bytes)
          stream.consumed(bytes.length)
        },
        problem => this.#ended(problem),
      )
    } catch (error) {
      this.#ended(answerProblem(error))
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#stream?.close()
  }

  #ended(problem: Problem | undefined): void {
    this.#stream = undefined
    this.#running = false
    if (this.#stopped) return
    this.problem = problem
    this.metrics = undefined
    this.#timer = setTimeout(() => void this.start(), pause)
  }
}

/** Characters kept of a line that has not ended yet. */
const longest = 65_536

/** Assembles chunks of bytes into lines of text. */
export function lineReader(onLine: (line: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return bytes => {
    const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n')
    const lines = [rest + first.slice(0, longest - rest.length), ...others]
    rest = (lines.pop() ?? '').slice(0, longest)
    for (const line of lines) onLine(line)
  }
}
