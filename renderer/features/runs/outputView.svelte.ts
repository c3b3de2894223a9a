import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { PageStream } from '#renderer/bridge/stream.ts'
import { bounds, outputRows, rowsOfPage } from '#shared/automation/output-rows.ts'
import type { RunMatch, RunPage, RunPlace, RunProgram } from '#shared/automation/run.ts'
import type { Problem } from '#shared/problem.ts'

/** A search in the output, and its results. */
export interface Search {
  text: string
  matches: readonly RunMatch[]
  /** The number of matching lines, up to the last one loaded. */
  total: number
}

/**
 * The view of a run's output: its growing end, an earlier page, or search results. The page never holds more than that.
 */
export class OutputView {
  readonly #page: Page
  readonly #on: { run: string; of: RunProgram }
  #stream: PageStream | undefined
  #closed = false
  /** The rows at the end of the output, and the offset of their first byte. */
  tail: readonly string[] = $state.raw([])
  tailFrom = $state(0)
  /** The earlier page that is shown, and the line in it that the user jumped to. */
  shown: RunPage | undefined = $state.raw()
  found: Search | undefined = $state.raw()
  problem: Problem | undefined = $state.raw()

  readonly rows: readonly string[] = $derived.by(() => (this.shown ? rowsOfPage(this.shown.text) : this.tail))
  /** Whether there is stored output before the rows shown. */
  readonly hasEarlier: boolean = $derived.by(() =>
    this.shown ? this.shown.from > this.shown.first : this.tailFrom > 0 || this.#tailIsCut,
  )

  constructor(page: Page, on: { run: string; of: RunProgram }) {
    this.#page = page
    this.#on = on
  }

  async follow(): Promise<void> {
    this.problem = undefined
    this.#stream?.close()
    try {
      const { stream, from } = await this.#page.berth.followRun(this.#on)
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
      this.problem = answerProblem(error)
    }
  }

  /** Shows a page. False where it no longer exists or could not be read. */
  async #show(place: RunPlace): Promise<boolean> {
    this.problem = undefined
    try {
      const page = await this.#page.berth.readRun({ ...this.#on, place })
      if (page.to === page.from) return false
      this.shown = page
      return true
    } catch (error) {
      this.problem = answerProblem(error)
      return false
    }
  }

  /** Whether more was printed while following than the view shows. */
  get #tailIsCut(): boolean {
    return this.tail.length >= bounds.rows
  }

  async earlier(): Promise<boolean> {
    if (!this.shown && this.#tailIsCut && !(await this.#show({ before: Number.MAX_SAFE_INTEGER })))
      return false
    return this.#show({ before: this.shown?.from ?? this.tailFrom })
  }

  /** Shows the next page, or the end once that is reached. */
  async later(): Promise<void> {
    const { shown } = this
    if (!shown) return
    if (shown.to >= shown.end || !(await this.#show({ from: shown.to }))) this.end()
  }

  /** Returns to the growing end. */
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

  /** Loads matches before the first one shown. */
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
      const answer = await this.#page.berth.searchRun({ ...this.#on, text, before })
      this.found = { text, ...answer }
    } catch (error) {
      this.problem = answerProblem(error)
    }
  }

  close(): void {
    this.#closed = true
    this.#stream?.close()
  }
}
