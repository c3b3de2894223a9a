import { answerProblem } from '#renderer/bridge/page.svelte.ts'
import type { Replacement } from '#shared/market/rental-view.ts'
import { type SearchPart, withoutParts } from '#shared/market/search-part.ts'
import type { Problem } from '#shared/problem.ts'

/** The search for a machine as good as another, and the requirements that the user drops for it. */
export class ReplacementSearch {
  answer: Replacement | undefined = $state.raw()
  problem: Problem | undefined = $state.raw()
  isSearching = $state(false)
  without: readonly SearchPart[] = $state.raw([])
  readonly #find: (without: SearchPart[]) => Promise<Replacement>
  #search = 0

  constructor(find: (without: SearchPart[]) => Promise<Replacement>) {
    this.#find = find
    void this.find()
  }

  /** The remaining requirements, stored with the rental. */
  readonly search = $derived(this.answer && withoutParts(this.answer.search, this.without))

  /** Asks for a part of it, or gives it up, and searches again. */
  ask(part: SearchPart, asked: boolean): void {
    const others = this.without.filter(one => one !== part)
    this.without = asked ? others : [...others, part]
    void this.find()
  }

  /** Searches again; the last one to be searched for is the one shown. */
  async find(): Promise<void> {
    const search = ++this.#search
    this.isSearching = true
    this.problem = undefined
    try {
      const answer = await this.#find([...this.without])
      if (search === this.#search) this.answer = answer
    } catch (error) {
      if (search === this.#search) this.problem = answerProblem(error)
    } finally {
      if (search === this.#search) this.isSearching = false
    }
  }
}
