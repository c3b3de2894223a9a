import * as v from 'valibot'
import type { Command } from '#contract/commands/command.ts'
import type { commands } from '#contract/commands.ts'
import type { MainMessage } from '#contract/messages.ts'
import { BerthError } from '#shared/problem.ts'
import { formOf, nothingPermitted, type Spender, spenderParts } from '#shared/spending/spender.ts'
import type { PageLink } from '../running.ts'
import type { Store } from '../storage/store.ts'
import { placeOf, problemOf } from './problems.ts'
import { createStreams, type Streams } from './streams.ts'

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

const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const stream = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

const PageMessageShape = v.variant('kind', [
  v.object({
    kind: v.literal('command'),
    call: v.pipe(v.number(), v.safeInteger()),
    name: v.string(),
    args: v.unknown(),
  }),
  v.object({ kind: v.literal('withdraw'), call: v.number() }),
  v.object({ kind: v.literal('sync') }),
  v.object({ kind: v.literal('data'), stream, bytes: v.instance(Uint8Array) }),
  v.object({ kind: v.literal('grant'), stream, bytes }),
  v.object({ kind: v.literal('end'), stream }),
])

/**
 * A page at a transport's other end. Its commands go to `dispatch`: a dispatcher, behind the rules for agents and scripts
 * (`commands/named-callers.ts`), which let the user's pass. `transport` returns whether it has room for more; `left` is called at the end;
 * `isInFront`: whether its window is before the user, where that is known here. `by`: the agent or script at it.
 */
export function createPageLink(
  store: Store,
  dispatch: Dispatch,
  transport: (message: MainMessage) => boolean,
  left: (page: Streams) => void = () => undefined,
  isInFront?: () => boolean,
  by: () => Spender | undefined = () => undefined,
): PageLink {
  let closed = false
  /** Answers that arrive after the page has left are dropped. */
  const send = (message: MainMessage) => !closed && transport(message)
  const streams = createStreams(send)
  /** The commands without an answer yet, by their number. */
  const unanswered = new Map<number, AbortController>()
  /** `behind`: the transport was full, so patches are skipped until it has room for the whole State. */
  let sentState: 'nothing' | 'all' | 'behind' = 'nothing'
  const stopPatches = store.onPatch((patches, sequence) => {
    if (sentState === 'all' && !maySee()) whole()
    else if (sentState === 'all' && !send({ kind: 'patch', sequence, patches })) sentState = 'behind'
  })

  /** An agent or a script that the user has switched off sees nothing. */
  function maySee(): boolean {
    return formOf(store.get().settings.spenders, by())?.may !== 'nothing'
  }

  function whole(): void {
    if (!maySee()) {
      sentState = 'nothing'
      const problem = nothingPermitted(spenderParts(by())?.name ?? '')
      send({ kind: 'refusal', call: 0, problem })
      return
    }
    sentState = 'all'
    send({ kind: 'state', sequence: store.sequence(), state: store.get() })
  }

  async function answer(call: number, name: string, args: unknown): Promise<void> {
    const aborter = new AbortController()
    unanswered.set(call, aborter)
    try {
      const caller = { streams, withdrawn: aborter.signal, isInFront, by: by() }
      send({ kind: 'answer', call, answer: await dispatch(name, args, caller) })
    } catch (error) {
      send({ kind: 'refusal', call, problem: problemOf(error) })
    } finally {
      unanswered.delete(call)
    }
  }

  return {
    receive(message) {
      const checked = v.safeParse(PageMessageShape, message)
      if (!checked.success) return
      const { output } = checked
      if (output.kind === 'command') void answer(output.call, output.name, output.args)
      else if (output.kind === 'withdraw') unanswered.get(output.call)?.abort()
      else if (output.kind === 'sync') whole()
      else streams.receive(output)
    },
    drained() {
      if (sentState === 'behind') whole()
      streams.drained()
    },
    isBusy: () => streams.flows() || unanswered.size > 0,
    close() {
      closed = true
      stopPatches()
      streams.close()
      for (const aborter of unanswered.values()) aborter.abort()
      left(streams)
    },
  }
}
