import * as v from 'valibot'
import type { Command } from '#contract/commands/command.ts'
import type { commands } from '#contract/commands.ts'
import { BerthError } from '#shared/problem.ts'
import type { Spender } from '#shared/spending/spender.ts'
import { placeOf, problemOf } from './problems.ts'
import type { Streams } from './streams.ts'

/** The sender of a command: streams it opens go to its page; a tray or menu has none. */
export interface Caller {
  streams?: Streams
  /** Aborted once the page needs the answer no longer, or has left. */
  withdrawn?: AbortSignal
  /** Whether its window is before the user; absent in a browser, where only the page knows. */
  isInFront?: (() => boolean) | undefined
  /** The agent or script that sends it; absent for the user. */
  by?: Spender | undefined
}

/** One handler per declared command. */
export type HandlersOf<Declared extends Record<keyof Declared, Command>> = {
  [Name in keyof Declared]: (
    args: v.InferOutput<Declared[Name]['args']>,
    caller: Caller,
  ) => Promise<Declared[Name] extends Command<infer _, infer Answer> ? Answer : never>
}

export type Handlers = HandlersOf<typeof commands>

export type Dispatch = (name: unknown, args: unknown, caller: Caller) => Promise<unknown>

/**
 * The entry for all commands, whatever their transport. Refuses unknown names and invalid arguments, and rejects with a
 * BerthError always. Unexpected errors are logged by the place they came from.
 */
export function createDispatcher<Declared extends Record<keyof Declared, Command>>(
  declared: Declared,
  handlers: HandlersOf<Declared>,
  log: (line: string) => void,
): Dispatch {
  return async (name, args, caller) => {
    if (typeof name !== 'string' || !isDeclared(declared, name))
      throw new BerthError({ code: 'unknown_command', message: 'Berth doesn’t know that command.' })
    try {
      return await run(declared, handlers, name, args, caller)
    } catch (error) {
      if (error instanceof BerthError) throw error
      const problem = problemOf(error)
      if (problem.code === 'internal') log(`${name} failed unexpectedly: ${placeOf(error)}`)
      throw new BerthError(problem)
    }
  }
}

function isDeclared<Declared extends object>(
  declared: Declared,
  name: string,
): name is keyof Declared & string {
  return Object.hasOwn(declared, name)
}

async function run<Declared extends Record<keyof Declared, Command>, Name extends keyof Declared>(
  declared: Declared,
  handlers: HandlersOf<Declared>,
  name: Name,
  args: unknown,
  caller: Caller,
): Promise<unknown> {
  // valibot accepts an array or a Map as an object without fields.
  if (!isPlain(args))
    throw new BerthError({ code: 'invalid_argument', message: 'A command takes its values by name.' })
  const checked = v.safeParse(declared[name].args, args, { abortEarly: true })
  if (!checked.success) throw invalid(checked.issues[0])
  return handlers[name](checked.output, caller)
}

function isPlain(args: unknown): boolean {
  if (typeof args !== 'object' || args === null) return false
  const prototype: unknown = Object.getPrototypeOf(args)
  return prototype === Object.prototype || prototype === null
}

function invalid(issue: v.BaseIssue<unknown>): BerthError {
  const field = v.getDotPath(issue)
  const message = `${issue.message.charAt(0).toUpperCase()}${issue.message.slice(1)}.`
  return new BerthError({ code: 'invalid_argument', message, field: field || undefined })
}
