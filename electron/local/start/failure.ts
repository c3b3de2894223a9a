import { FlagError, usage } from './flags.ts'

/** Why Berth cannot start, or cannot go on. */
export interface BerthStartFailure {
  /** In plain words. */
  words: string
  /** The same with the stack, for an unexpected error. */
  trace?: string
  /** The process's exit code: 2 for a wrong flag, 1 for the rest. */
  code: 1 | 2
}

export function berthStartFailure(error: unknown): BerthStartFailure {
  if (error instanceof FlagError) return { words: `${error.message}\n${usage}`, code: 2 }
  if (!(error instanceof Error)) return { words: String(error), code: 1 }
  const code = 'code' in error ? error.code : undefined
  const port = 'port' in error ? error.port : undefined
  if (code === 'EADDRINUSE')
    return { words: `Port ${port} is taken. Give another one with --port, or 0 for any.`, code: 1 }
  if (code === 'EACCES' && port !== undefined)
    return { words: `Port ${port} is not for ordinary users. Give one above 1023.`, code: 1 }
  // Its message needs no prefix and no stack.
  if (code === 'already_running') return { words: error.message, code: 1 }
  return {
    words: `Berth could not start. ${error.message}`,
    trace: error.stack !== undefined ? `Berth could not start. ${error.stack}` : undefined,
    code: 1,
  }
}

/** The failure for an uncaught error. `words` hold no part of the error, since a box on screen shows them. */
export function runFailure(error: unknown): BerthStartFailure {
  return {
    words:
      'Something in Berth failed that it could not handle, so it closed. Your instances keep running; while Berth is closed, nothing watches them. Its log says where it failed.',
    trace: `Berth had to close. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    code: 1,
  }
}

/** Prints the failure on stderr. */
export function printFailure({ words, trace }: BerthStartFailure): void {
  process.stderr.write(`${trace ?? words}\n`)
}

/** Prints why Berth cannot start, and ends the process. */
export function failToStart(error: unknown): never {
  const failure = berthStartFailure(error)
  printFailure(failure)
  process.exit(failure.code)
}
