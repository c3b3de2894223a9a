import { answerProblem } from '#renderer/bridge/page.svelte.ts'
import type { Problem } from '#shared/problem.ts'
import { focusFirstError } from './fieldErrors.svelte.ts'

/** The sending of a form: whether it was tried, is pending, or was refused and why. */
export class Submission {
  /** From the first attempt on, the form shows the errors of its fields. */
  tried = $state(false)
  busy = $state(false)
  problem: Problem | undefined = $state.raw()

  /**
   * Runs `doing`, one at a time; pass nothing where the form is invalid. Returns whether it succeeded. If not,
   * `problem` has the main process's reason, if any, and the first invalid field gets the focus.
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
      this.problem = answerProblem(error)
      focusFirstError()
      return false
    } finally {
      this.busy = false
    }
  }

  /** The reason for a refusal that is about this field, to show at it. */
  at(field: string): string | undefined {
    if (this.problem?.field !== field) return undefined
    return [this.problem.message, this.problem.advice].filter(Boolean).join(' ')
  }

  /** This field was edited: a refusal because of it may no longer apply. */
  corrected(field: string): void {
    if (this.problem?.field === field) this.problem = undefined
  }

  /** The problem, unless one of these fields shows it. */
  besides(...fields: readonly string[]): Problem | undefined {
    return fields.includes(this.problem?.field ?? '') ? undefined : this.problem
  }
}

/** Whether a login with two factors may solve a problem (sections 5 and 7). */
export function mayNeedLogin({ code }: Problem): boolean {
  return ['tfa_needed', 'auth_error', 'unauthorized', 'forbidden'].includes(code)
}
