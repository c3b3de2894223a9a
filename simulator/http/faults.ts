import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, MiddlewareHandler, Next } from 'hono'
import type { Bindings } from './bindings.ts'
import type { FaultRule } from './fault-rules.ts'
import { wrongTypes } from './wrong-types.ts'

/** The fault rules in force. `times` is how often a rule still applies. */
export class Faults {
  #rules: FaultRule[] = []

  replace(rules: readonly FaultRule[]): void {
    this.#rules = rules.map(rule => ({ ...rule }))
  }

  /** The first matching rule; uses up one of its times. */
  take(method: string, path: string): FaultRule | undefined {
    const rule = this.#rules.find(
      ({ method: only, path: pattern, times }) =>
        times > 0 && (only === null || only === method) && pattern.test(path),
    )
    if (rule) rule.times -= 1
    return rule
  }
}

/** Waits for the faults that take time. `gone` resolves once the client has given up, or the answer was sent. */
export interface FaultTime {
  /** Delays an answer by so many milliseconds. */
  late(milliseconds: number, gone: Promise<unknown>): Promise<unknown>
  /** Holds an answer back permanently. */
  hang(gone: Promise<unknown>): Promise<unknown>
}

/** This machine's own time. */
export const realTime: FaultTime = {
  late: milliseconds => setTimeout(milliseconds),
  hang: gone => gone,
}

/** Makes requests fail as the rules say. */
export function faultMiddleware(faults: Faults, time: FaultTime): MiddlewareHandler<Bindings> {
  return async (context, next) => {
    const rule = faults.take(context.req.method, new URL(context.req.url).pathname)
    if (!rule) return await next()
    context.get('logged').fault = rule.kind
    return await misbehave(rule, time, context, next)
  }
}

async function misbehave(
  rule: FaultRule,
  time: FaultTime,
  context: Context<Bindings>,
  next: Next,
): Promise<Response | undefined> {
  switch (rule.kind) {
    case 'status':
      return Response.json(faultBody(rule), { status: rule.status })
    case 'delay':
      await next()
      await time.late(rule.ms, closed(context))
      return undefined
    case 'hang':
      return await hang(context, time)
    case 'hang_after':
      await next()
      return replaceBy(context, await hang(context, time))
    case 'reset':
      return reset(context)
    case 'reset_after':
      await next()
      return replaceBy(context, reset(context))
    case 'garbage': {
      await next()
      const text = await context.res.text()
      return replaceBy(context, json(`${text.slice(0, Math.floor(text.length / 2))}{"garbage`))
    }
    case 'wrong_types': {
      await next()
      // A refusal in plain text has no types.
      if (!context.res.headers.get('content-type')?.includes('json')) return undefined
      return replaceBy(context, json(JSON.stringify(wrongTypes(await context.res.json()))))
    }
  }
}

/** Waits until the client gives up, and never answers. */
async function hang(context: Context<Bindings>, time: FaultTime): Promise<Response> {
  await time.hang(closed(context))
  return RESPONSE_ALREADY_SENT
}

async function closed({ env: { outgoing } }: Context<Bindings>): Promise<void> {
  if (!outgoing.destroyed) await once(outgoing, 'close')
}

/** Breaks the connection with a TCP reset. */
function reset(context: Context<Bindings>): Response {
  context.env.incoming.socket.resetAndDestroy()
  return RESPONSE_ALREADY_SENT
}

/** Hono keeps the headers of the answer it replaces, so that one goes first. */
function replaceBy(context: Context<Bindings>, response: Response): undefined {
  context.res = undefined
  context.res = response
  return undefined
}

function json(text: string): Response {
  return new Response(text, { status: 200, headers: { 'content-type': 'application/json' } })
}

function faultBody(rule: FaultRule): Record<string, unknown> {
  const msg = 'The simulator was told to fail here.'
  if (rule.status === 429 && rule.error === null) {
    return { detail: 'API requests too frequent: endpoint threshold=1.0' }
  }
  return { success: false, ...(rule.error === null ? {} : { error: rule.error }), msg }
}
