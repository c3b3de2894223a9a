/** An error for people: what happened, why, and what to try. `code` is the service's own or one of Berth's. */
export interface Problem {
  code: string
  message: string
  advice?: string
  /** It may have been done all the same: the service's answer was lost. */
  unsure?: boolean
  /** The field with the problem, if any: a path in the command's arguments such as `bid` or `env.2.name`. */
  field?: string
  /** Details for the page to show, such as the two fingerprints of a changed host key. */
  facts?: Record<string, string>
  /** Which cap refused it: of an agent, a script or a project, or over everything. */
  refusal?: Refusal
  /** Wrong codes counted against a two-factor method (section 7). */
  failCount?: number
  /** When a two-factor method's lockout ends (section 7), epoch seconds of the account's time. */
  lockedUntil?: number
}

export type RefusedLimit = 'permission' | 'day' | 'hour' | 'machines' | 'price' | 'volume' | 'ownership'

/** Why a spender is refused. Amounts in dollars, or machines. */
export interface Refusal {
  limit: RefusedLimit
  name: string
  cap: number | null
  used: number | null
  left: number | null
  /** Whether trying the same again helps: never, once a machine of it has ended, or on another day. */
  retry: 'never' | 'after_an_end' | 'tomorrow'
}

/** A Problem as an error, for the command's caller. */
export class BerthError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.name = 'BerthError'
    this.problem = problem
  }
}
