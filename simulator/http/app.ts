import { type Context, Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import type { Controls, Parts } from '../controls.ts'
import type { Profile } from '../deployment.ts'
import { invalidArgs, ServiceError, TextError } from '../errors.ts'
import { Fields, isObject, LooseFields } from '../fields.ts'
import { routes } from '../routes/routes.ts'
import { epochSeconds } from '../world/clock.ts'
import { sessionCookie } from '../world/two-factor/sessions.ts'
import type { World } from '../world/world.ts'
import { authenticate, authorize } from './access.ts'
import { serveControlPlane } from './control-plane.ts'
import { type FaultTime, faultMiddleware } from './faults.ts'
import { type LimitClock, RateLimits } from './limits.ts'
import type { Bindings } from './request-log.ts'
import type { ApiRequest, Route } from './route.ts'

export interface AppOptions {
  /** The clock for rate limits; null for no limits. */
  limitClock: LimitClock | null
  controlPlane: boolean
  faultTime: FaultTime
}

/** The whole service over HTTP. Every answer carries world time as its `Date`. */
export function createApp(parts: Parts, controls: Controls, options: AppOptions): Hono<Bindings> {
  const { world, deployment, doors, faults, log } = parts
  const app = new Hono<Bindings>({ strict: false })
  app.use(async (context, next) => {
    await next()
    context.res.headers.set('date', new Date(world.clock.now()).toUTCString())
  })
  app.use('/api/*', async (context, next) => {
    const logged = log.add(context.req.method, pathOf(context), epochSeconds(world.clock.now()))
    context.set('logged', logged)
    await next()
    if (!context.env.incoming.socket.destroyed) logged.status = context.res.status
  })
  app.use('/api/*', faultMiddleware(faults, options.faultTime))
  app.use('/api/*', async (_context, next) => {
    world.catchUp()
    await doors.follow()
    await next()
    await doors.follow()
  })
  const limits = options.limitClock && new RateLimits(deployment, options.limitClock)
  serveRoutes(app, parts, limits, routes)
  if (options.controlPlane) serveControlPlane(app, controls)
  app.notFound(context =>
    context.json({ success: false, msg: `There is nothing at ${pathOf(context)}.` }, 404),
  )
  app.onError(answerError)
  return app
}

/** The path as sent: Hono's own lacks the trailing slash. */
function pathOf(context: Context<Bindings>): string {
  return new URL(context.req.url).pathname
}

/**
 * Serves routes: authentication, then the rate limit (if any), permissions, the route. Routes of another deployment
 * than the one in force are skipped.
 */
export function serveRoutes(
  app: Hono<Bindings>,
  { world, deployment, results }: Parts,
  limits: RateLimits | null,
  routes: readonly Route[],
): void {
  for (const route of routes) {
    const path = `/api/${route.version ?? 'v0'}${route.path.replace(/\/$/, '')}`
    app.on(route.method, path, async (context, next) => {
      const { profile } = deployment
      if (route.only !== undefined && route.only !== profile.deployment) return await next()
      const authorization = context.req.header('authorization') ?? cookieAuthorization(context, world)
      const caller = authenticate(world, route, profile, authorization)
      if (caller.kind !== 'anonymous') limits?.take(caller.key, route)
      const text = await context.req.text()
      authorize(caller, route, () => ({ ...parametersOf(text), ...context.req.param() }))
      const headers = new Headers({ 'content-type': 'application/json' })
      const request: ApiRequest = {
        world,
        caller,
        profile,
        results,
        id: name => readId(context, name),
        query: new URL(context.req.url).searchParams,
        body: code => readBody(text, profile.body, code),
        hasBody: text.trim() !== '',
        headers,
      }
      const answer = await route.answer(request)
      if (route.method !== 'GET') noteCall(world, caller, pathOf(context))
      return new Response(JSON.stringify(answer), { headers })
    })
  }
}

/** Notes a call that may have changed something, for the account's audit log. */
function noteCall({ account, apiKeys, clock }: World, caller: ApiRequest['caller'], path: string): void {
  const key = caller.kind === 'anonymous' ? undefined : apiKeys.list().find(({ key }) => key === caller.key)
  account.audit.push({
    created_at: epochSeconds(clock.now()),
    api_key_id: key?.id ?? 0,
    api_route: path.replace(/^\/api\/v\d+/, ''),
  })
}

/** The HTTP answer for a thrown error: its own for a ServiceError, 500 for a bug in the simulator. */
export function answerError(error: Error): Response {
  if (error instanceof TextError) {
    return new Response(error.text, { status: error.status, headers: { 'content-type': error.type } })
  }
  if (error instanceof ServiceError) return Response.json(error.body, { status: error.status })
  console.error(error)
  return Response.json({ success: false, error: 'internal', msg: 'The simulator failed.' }, { status: 500 })
}

/**
 * What came in the session's cookie, as an `Authorization`: a session of a two-factor login is a bearer token there;
 * anything else, an API key included, is none.
 */
function cookieAuthorization(context: Context<Bindings>, { twoFactor }: World): string | undefined {
  const session = getCookie(context, sessionCookie)
  if (session === undefined) return undefined
  return `${twoFactor.sessions.caller(session) ? 'Bearer' : 'Cookie'} ${session}`
}

/** What a body names, for the constraints of a key; nothing where it is no object. */
function parametersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function readId(context: Context<Bindings>, name: string): number {
  const text = context.req.param(name) ?? ''
  const id = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) throw invalidArgs(`${text} is not an id.`)
  return id
}

function readBody(text: string, body: Profile['body'], code: string | null | undefined): Fields {
  const empty = body === 'loose' ? new LooseFields({}, code) : new Fields({}, code)
  if (text.trim() === '') return empty
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw empty.refuse('Invalid json body')
  }
  if (!isObject(value)) throw empty.refuse('The body must be a JSON object.')
  const fields = empty.with(value)
  fields.optionalString('client_id')
  return fields
}
