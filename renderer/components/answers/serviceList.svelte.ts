import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { type DeletionSubjects, deletions, type Question } from '#shared/deletions.ts'
import { Loaded } from './loaded.svelte.ts'

/** The records of one kind that the service holds, and the question before one of them is lost. */
export class ServiceList<Item> extends Loaded<readonly Item[]> {
  asked: { question: Question; confirm: () => Promise<void> } | undefined = $state.raw()
  readonly #page: Page
  #missing: readonly string[] = $state.raw([])

  constructor(page: Page, read: () => Promise<readonly Item[]>) {
    super(read)
    this.#page = page
  }

  /** Whether the service refused this, since it has no operation for it. */
  lacks(action: keyof DeletionSubjects): boolean {
    return this.#missing.includes(action)
  }

  /** Asks before `doing`, which gives what to tell once it's done. The list is then read again. */
  ask<Action extends keyof DeletionSubjects>(
    action: Action,
    on: DeletionSubjects[Action],
    doing: () => Promise<string | undefined>,
  ): void {
    const { account, accountNow } = this.#page
    const question = account && deletions[action].question(account, on, accountNow)
    if (question) this.asked = { question, confirm: () => this.#confirmed(action, doing) }
  }

  async #confirmed(action: string, doing: () => Promise<string | undefined>): Promise<void> {
    try {
      const done = await doing()
      if (done !== undefined) this.#page.say(done)
    } catch (error) {
      if (answerProblem(error).code === 'not_supported') this.#missing = [...this.#missing, action]
      throw error
    }
    await this.load()
  }
}
