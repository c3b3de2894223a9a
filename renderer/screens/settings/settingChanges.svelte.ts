import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { Problem } from '#shared/problem.ts'
import type { SettingsChange } from '#shared/settings.ts'

/** Saves each change at once, and remembers the last one for Undo. */
export class SettingChanges {
  /** The setting last changed, and its value before. */
  saved: { field: string; before: SettingsChange } | undefined = $state.raw()
  failed: { field: string; problem: Problem } | undefined = $state.raw()
  readonly #page: Page
  /** Changes run one by one, since each is compared with the settings that the one before it left. */
  #turn: Promise<void> = Promise.resolve()

  constructor(page: Page) {
    this.#page = page
  }

  /** Saves a change; its outcome is shown at `field`. */
  change(field: string, to: SettingsChange): Promise<void> {
    this.#turn = this.#turn.then(() => this.#change(field, to))
    return this.#turn
  }

  async #change(field: string, to: SettingsChange): Promise<void> {
    const now = this.#page.state?.settings
    if (!now) return
    const before = partBefore(now, to)
    if (JSON.stringify(before) === JSON.stringify(to)) return
    if (await this.#send(field, to)) this.saved = { field, before }
  }

  /** Takes the last change back. */
  async undo(): Promise<void> {
    const { saved } = this
    if (!saved) return
    if (await this.#send(saved.field, saved.before)) this.saved = undefined
  }

  async #send(field: string, settings: SettingsChange): Promise<boolean> {
    this.failed = undefined
    try {
      await this.#page.berth.changeSettings({ settings })
      return true
    } catch (error) {
      this.failed = { field, problem: answerProblem(error) }
      return false
    }
  }
}

/** The present values of the settings that a change contains; within a group, too. */
export function partBefore(settings: object, change: object): SettingsChange {
  const values = new Map(Object.entries(settings))
  const before = Object.entries(change).map(([name, to]) => {
    const now: unknown = values.get(name)
    return [name, isGroup(now) && isGroup(to) ? partBefore(now, to) : now]
  })
  return Object.fromEntries(before)
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
