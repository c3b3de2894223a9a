import type { Context, Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import { invalidArgs, ServiceError } from '../errors.ts'
import { Fields, isObject } from '../fields.ts'
import { sessionCookie } from '../world/two-factor/sessions.ts'
import type { World } from '../world/world.ts'
import { authenticate, authorize } from './access.ts'
import type { Bindings } from './bindings.ts'
import type { RateLimits } from './limits.ts'
import { type ApiRequest, JsonText, type Route } from './route.ts'

/** Serves routes below /api/v0: authentication, then the rate limit (if any), permissions, the route. */
export function serveRoutes(
  app: Hono<Bindings>,
  world: World,
  limits: RateLimits | null,
  routes: readonly Route[],
): void {
  for (const route of routes) {
    app.on(route.method, `/api/v0${route.path.replace(/\/$/, '')}`, async context => {
      const caller = authenticate(world, route, context.req.header('authorization') ?? cookieBearer(context))
      if (limits && route.threshold !== undefined && caller.kind !== 'anonymous') {
        limits.take(caller.key, `${route.method} ${route.path}`, route.threshold)
      }
      authorize(caller, route)
      const text = await context.req.text()
      const headers = new Headers({ 'content-type': 'application/json' })
      const request: ApiRequest = {
        world,
        caller,
        id: name => readId(context, name),
        query: new URL(context.req.url).searchParams,
        body: code => readBody(text, code),
        hasBody: text.trim() !== '',
        headers,
      }
      const answer = await route.answer(request)
      return new Response(answer instanceof JsonText ? answer.text : JSON.stringify(answer), { headers })
    })
  }
}

/** The HTTP answer for anything thrown: its own for a ServiceError, 500 for a mistake in the simulator. */
export function answerError(error: Error): Response {
  if (error instanceof ServiceError) return Response.json(error.body, { status: error.status })
  console.error(error)
  return Response.json({ success: false, error: 'internal', msg: 'The simulator failed.' }, { status: 500 })
}

/** The session that a two-factor login without a key left in a cookie, as a bearer token. */
function cookieBearer(context: Context<Bindings>): string | undefined {
  const session = getCookie(context, sessionCookie)
  return session === undefined ? undefined : `Bearer ${session}`
}

function readId(context: Context<Bindings>, name: string): number {
  const text = context.req.param(name) ?? ''
  const id = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) throw invalidArgs(`${text} is not an id.`)
  return id
}

function readBody(text: string, code: string | null | undefined): Fields {
  const empty = new Fields({}, code)
  if (text.trim() === '') return empty
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw empty.refuse('The body is not JSON.')
  }
  if (!isObject(value)) throw empty.refuse('The body must be a JSON object.')
  const fields = new Fields(value, code)
  fields.optionalString('client_id')
  return fields
}
