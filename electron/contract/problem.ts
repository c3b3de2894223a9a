/** An error as people read it: what happened, why, and what to try. `code` is the service's own or one of Berth's. */
export interface Problem {
  code: string
  message: string
  advice?: string
  /** The field it is about, when it is about one: a path as in the command's arguments, `bid` or `env.2.name`. */
  field?: string
  /** Facts the page may show beside it, such as the two fingerprints of a changed host key. */
  facts?: Record<string, string>
  /** Wrong codes counted against a two-factor method (section 7). */
  failCount?: number
  /** When a two-factor method's lockout ends (section 7), epoch seconds of the account's time. */
  lockedUntil?: number
}

/** A Problem on its way to whoever gave the command. */
export class BerthError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.name = 'BerthError'
    this.problem = problem
  }
}
