import { type Context, Hono } from 'hono'
import type { Controls, Parts } from '../controls.ts'
import { routes } from '../routes/routes.ts'
import { epochSeconds } from '../world/clock.ts'
import { serveControlPlane } from './control-plane.ts'
import { answerError, serveRoutes } from './dispatch.ts'
import { type FaultTime, faultMiddleware } from './faults.ts'
import { type LimitClock, RateLimits } from './limits.ts'
import type { Bindings } from './request-log.ts'

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
