import type { InsideLook } from '../../../../../electron/contract/instance/inside.ts'
import type { InstanceView } from '../../../../../electron/contract/instance/instance.ts'
import type { Problem } from '../../../../../electron/contract/problem.ts'
import { type Page, problemOf } from '../../../../berth/page.svelte.ts'
import type { PageStream } from '../../../../berth/stream.ts'
import { lineReader } from '../lineReader.ts'

/** Looks that are kept: ten minutes of them. */
const kept = 200
/** Milliseconds after which a connection that was lost is tried again, and between two looks at the record. */
const pause = 5000

/** What goes on inside one instance, for as long as somebody looks. */
export class MetricsWatch {
  status: 'connecting' | 'open' | 'closed' = $state('connecting')
  problem: Problem | undefined = $state.raw()
  looks: readonly InsideLook[] = $state.raw([])
  readonly #page: Page
  readonly #instance: () => InstanceView
  #stream: PageStream | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  constructor(page: Page, instance: () => InstanceView) {
    this.#page = page
    this.#instance = instance
  }

  async start(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      const answer = await this.#page.berth.watchInside({ instance: this.#instance().id })
      const stream = this.#page.stream(answer.stream)
      if (this.#stopped) return stream.close()
      this.#stream = stream
      this.status = 'open'
      this.problem = undefined
      const read = lineReader(line => this.#keep(JSON.parse(line) as InsideLook))
      stream.read(
        bytes => {
          read(bytes)
          stream.consumed(bytes.length)
        },
        problem => this.#ended(problem),
      )
    } catch (error) {
      this.#ended(problemOf(error))
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#stream?.close()
  }

  #ended(problem: Problem | undefined): void {
    this.#stream = undefined
    if (this.#stopped) return
    this.status = 'closed'
    this.problem = problem
    this.#fromRecord()
    this.#timer = setTimeout(() => void this.start(), pause)
  }

  /** What the service itself tells, where the instance does not. */
  #fromRecord(): void {
    const { gpu, gpuLoad, gpuTemperature } = this.#instance()
    if (gpuLoad === undefined && gpuTemperature === undefined) return
    this.#keep({
      at: Date.now(),
      gpus: [{ index: 0, name: gpu?.name ?? 'GPU', load: gpuLoad, temperature: gpuTemperature }],
      disks: this.looks.at(-1)?.disks ?? [],
    })
  }

  #keep(look: InsideLook): void {
    this.looks = [...this.looks.slice(1 - kept), look]
  }
}
