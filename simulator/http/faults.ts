import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, MiddlewareHandler, Next } from 'hono'
import { Fields, isObject } from '../fields.ts'
import type { Bindings } from './request-log.ts'

export const faultKinds = [
  'status',
  'delay',
  'hang',
  'hang_after',
  'reset',
  'reset_after',
  'garbage',
  'wrong_types',
] as const

/** The kind of fault; simulator/README.md describes each. */
export type FaultKind = (typeof faultKinds)[number]

/** A fault rule as tests give it. */
export interface FaultInput {
  /** Any method when left out. */
  method?: string
  /** A regular expression for the path; any path when left out. */
  path?: string
  kind: FaultKind
  /** How many requests it affects; all of them when left out. */
  times?: number
  /** The status of kind `status`; default 500. */
  status?: number
  /** The error code of kind `status`; none when left out. */
  error?: string
  /** Real milliseconds of kind `delay`; default 1000. */
  ms?: number
}

/** A fault rule, checked. */
export type FaultRule = ReturnType<typeof readFaultRules>[number]

/** Checks rules. Throws 400 `invalid_args`. */
export function readFaultRules(rules: readonly unknown[]) {
  return rules.map(rule => {
    const fields = new Fields(isObject(rule) ? rule : {})
    if (!isObject(rule)) throw fields.refuse('A rule must be an object.')
    const name = fields.string('kind')
    const kind = faultKinds.find(known => known === name)
    if (!kind) throw fields.refuse(`kind must be one of ${faultKinds.join(', ')}.`)
    return {
      method: fields.optionalString('method')?.toUpperCase() ?? null,
      path: readPattern(fields),
      kind,
      times: within(fields, 'times', 0, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
      status: within(fields, 'status', 200, 599) ?? 500,
      error: fields.optionalString('error') ?? null,
      ms: within(fields, 'ms', 0, 3_600_000) ?? 1000,
    }
  })
}

function readPattern(fields: Fields): RegExp {
  try {
    return new RegExp(fields.optionalString('path') ?? '')
  } catch (error) {
    if (error instanceof SyntaxError) throw fields.refuse('path must be a regular expression.')
    throw error
  }
}

function within(fields: Fields, name: string, low: number, high: number): number | undefined {
  const value = fields.optionalInteger(name)
  if (value !== undefined && (value < low || value > high)) {
    throw fields.refuse(`${name} must be from ${low} to ${high}.`)
  }
  return value
}

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

/** The same JSON with every value of a wrong type, and arrays and objects swapped. */
export function wrongTypes(value: unknown): unknown {
  if (Array.isArray(value)) return { 0: value.length === 0 ? null : wrongTypes(value[0]) }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, wrongTypes(inner)]))
  }
  if (typeof value === 'string') return value.length
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'boolean') return { value }
  return [false]
}
