import type { Problem } from '../shared/problem.ts'

/** The command's exit codes. Scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Berth does not run and could not be started, or has ended. */
  unreachable: 3,
  /** `--yes` or `--secret-files` is missing, or Berth is another user's. */
  refused: 4,
  /** No such account, instance, run or project. */
  unknown: 5,
  /** The command of a run failed with a code from 1 to 6; any other code is its own. */
  command: 6,
  /** A cap, or what the user permits, forbids it to the name of `--as`. Far from the codes that commands often end with. */
  capped: 77,
} as const

/** Why the command failed, and its exit code. */
export class CliFailure extends Error {
  readonly exitCode: number
  readonly problem: Problem

  constructor(exitCode: number, problem: Problem) {
    super(problem.message)
    this.exitCode = exitCode
    this.problem = problem
  }
}

/** The failure for a problem that Berth answered. */
export function cliRefusal(problem: Problem): CliFailure {
  const { failed, unknown, capped } = exitCodes
  if (problem.refusal) return new CliFailure(capped, problem)
  return new CliFailure(/^no_such_/.test(problem.code) ? unknown : failed, problem)
}

export function usageFailure(message: string): CliFailure {
  return new CliFailure(exitCodes.usage, { code: 'usage', message, advice: 'Try: berth --help' })
}
