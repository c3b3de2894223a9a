import type { Problem } from '../../../electron/contract/problem.ts'
import { problemOf } from '../../berth/page.svelte.ts'
import { focusFirstError } from './focusFirstError.ts'

/** What a form does with what was typed into it: whether that was tried, is on its way, or was refused, and why. */
export class Sending {
  /** From then on it says what is wrong with the fields. */
  tried = $state(false)
  busy = $state(false)
  problem: Problem | undefined = $state.raw()

  /**
   * Does it, once at a time; nothing stands for what cannot be sent as it is typed. Gives whether it was done: if not,
   * `problem` says why, where it was the main process that refused it, and the first field that is wrong gets the focus.
   */
  async send(doing: (() => Promise<unknown>) | false | undefined): Promise<boolean> {
    this.tried = true
    this.problem = undefined
    if (this.busy) return false
    if (!doing) {
      focusFirstError()
      return false
    }
    this.busy = true
    try {
      await doing()
      return true
    } catch (error) {
      this.problem = problemOf(error)
      focusFirstError()
      return false
    } finally {
      this.busy = false
    }
  }

  /** Why it was refused, where that is about this field; to be said with it. */
  at(field: string): string | undefined {
    if (this.problem?.field !== field) return undefined
    return [this.problem.message, this.problem.advice].filter(Boolean).join(' ')
  }

  /** This field was typed into again: what it was refused for may no longer be so. */
  corrected(field: string): void {
    if (this.problem?.field === field) this.problem = undefined
  }

  /** Why it was refused, where that is about none of these fields; to be said on its own. */
  besides(...fields: readonly string[]): Problem | undefined {
    return fields.includes(this.problem?.field ?? '') ? undefined : this.problem
  }
}
