import type { RunMatch, RunPage, RunPlace } from '../../../../electron/contract/automation/run.ts'
import type { Problem } from '../../../../electron/contract/problem.ts'
import { type Page, problemOf } from '../../../berth/page.svelte.ts'
import type { PageStream } from '../../../berth/stream.ts'
import { bounds, outputRows, rowsOfPage } from './outputRows.ts'

/** What was looked for in the output, and where it is said. */
export interface Search {
  text: string
  matches: readonly RunMatch[]
  /** Lines that say it, up to the last one here. */
  total: number
}

/**
 * The output of a run as it is looked at: its end, as it grows; a page of what came before; or what was found in it. No
 * more than that is on the page.
 */
export class OutputView {
  readonly #page: Page
  readonly #run: string
  #stream: PageStream | undefined
  #closed = false
  /** Rows at the end of the output, and the byte that they begin with. */
  tail: readonly string[] = $state.raw([])
  tailFrom = $state(0)
  /** An earlier page, while that is looked at; and the line of it that was asked for. */
  shown: RunPage | undefined = $state.raw()
  found: Search | undefined = $state.raw()
  problem: Problem | undefined = $state.raw()

  readonly rows: readonly string[] = $derived.by(() => (this.shown ? rowsOfPage(this.shown.text) : this.tail))
  /** Whether there is kept output before what is shown. */
  readonly hasEarlier: boolean = $derived.by(() =>
    this.shown ? this.shown.from > this.shown.first : this.tailFrom > 0 || this.#tailIsCut,
  )

  constructor(page: Page, run: string) {
    this.#page = page
    this.#run = run
  }

  async follow(): Promise<void> {
    this.problem = undefined
    this.#stream?.close()
    try {
      const { stream, from } = await this.#page.berth.followRun({ run: this.#run })
      const opened = this.#page.stream(stream)
      if (this.#closed) return opened.close()
      this.#stream = opened
      this.tailFrom = from
      this.tail = []
      const decoder = new TextDecoder()
      const draw = outputRows()
      opened.read(
        bytes => {
          this.tail = draw(decoder.decode(bytes, { stream: true }))
          opened.consumed(bytes.length)
        },
        ended => {
          this.problem = ended
        },
      )
    } catch (error) {
      this.problem = problemOf(error)
    }
  }

  /** True once it is shown; false where there is no such page any more, or it could not be read. */
  async #show(place: RunPlace): Promise<boolean> {
    this.problem = undefined
    try {
      const page = await this.#page.berth.readRun({ run: this.#run, place })
      if (page.to === page.from) return false
      this.shown = page
      return true
    } catch (error) {
      this.problem = problemOf(error)
      return false
    }
  }

  /** More was printed since it is followed than is shown of it. */
  get #tailIsCut(): boolean {
    return this.tail.length >= bounds.rows
  }

  async earlier(): Promise<boolean> {
    if (!this.shown && this.#tailIsCut && !(await this.#show({ before: Number.MAX_SAFE_INTEGER })))
      return false
    return this.#show({ before: this.shown?.from ?? this.tailFrom })
  }

  /** The page after the one that is shown; the end, where that is reached. */
  async later(): Promise<void> {
    const { shown } = this
    if (!shown) return
    if (shown.to >= shown.end || !(await this.#show({ from: shown.to }))) this.end()
  }

  /** Back to the end, as it grows. */
  end(): void {
    this.shown = undefined
    this.found = undefined
  }

  async around(match: RunMatch): Promise<void> {
    if (await this.#show({ around: match.at })) this.found = undefined
  }

  async search(text: string): Promise<void> {
    await this.#search(text, undefined)
  }

  /** What says the same before the first that was found. */
  async searchEarlier(): Promise<void> {
    const { found } = this
    const before = found?.matches[0]?.at
    if (found && before !== undefined) await this.#search(found.text, before)
  }

  async #search(wanted: string, before: number | undefined): Promise<void> {
    const text = wanted.trim()
    if (text === '') {
      this.found = undefined
      return
    }
    this.problem = undefined
    try {
      const answer = await this.#page.berth.searchRun({ run: this.#run, text, before })
      this.found = { text, ...answer }
    } catch (error) {
      this.problem = problemOf(error)
    }
  }

  close(): void {
    this.#closed = true
    this.#stream?.close()
  }
}
