import { untrack } from 'svelte'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { Problem } from '#shared/problem.ts'

/** An answer that can be fetched again; the previous one stays until the next arrives. */
export class Loaded<Answer> {
  answer: Answer | undefined = $state.raw()
  /** Why the last load failed. */
  problem: Problem | undefined = $state.raw()
  loading = $state(false)
  readonly #ask: () => Promise<Answer>
  #turn = 0

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask
  }

  /** Whether this service does not support it. */
  readonly missing = $derived(this.problem?.code === 'not_supported')

  async load(): Promise<void> {
    const turn = ++this.#turn
    this.loading = true
    try {
      const answer = await this.#ask()
      if (turn !== this.#turn) return
      this.answer = answer
      this.problem = undefined
    } catch (error) {
      if (turn === this.#turn) this.problem = answerProblem(error)
    } finally {
      if (turn === this.#turn) this.loading = false
    }
  }
}

/** Calls `ask` now, or after an outage that is shown now, and again after every later one. */
export function seenAgain(page: Page, ask: () => void): void {
  $effect(() => {
    if (!page.outageShown) untrack(ask)
  })
}
