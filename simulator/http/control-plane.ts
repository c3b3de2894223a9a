import type { Context, Hono } from 'hono'
import type { Controls } from '../controls.ts'
import { invalidArgs, noSuchInstance, refusal } from '../errors.ts'
import { Fields, isObject } from '../fields.ts'
import type { FaultInput } from './faults.ts'
import type { Bindings } from './request-log.ts'

/**
 * The control plane for tests, outside /api/. JSON only; a request from a page in a browser (an `Origin`, or
 * a `Host` that is not this server on loopback) is refused.
 */
export function serveControlPlane(app: Hono<Bindings>, controls: Controls): void {
  app.use('/sim/*', async (context, next) => {
    refuseStrangers(context)
    await next()
  })
  const gets: Record<string, () => object> = {
    '/sim/outbox': () => ({ messages: controls.outbox() }),
    '/sim/ledger': () => controls.ledger(),
    '/sim/requests': () => ({ requests: controls.requests() }),
  }
  /** Each answers `success` unless it gives something else. */
  const posts: Record<string, (body: Fields, id: string) => unknown> = {
    '/sim/clock': body => controls.advance(body.number('advance')),
    '/sim/instances/:id': (body, id) => changeInstance(controls, body, id),
    '/sim/account': ({ values }) => ({ success: true, account: controls.setAccount(values) }),
    '/sim/tfa-secret': () => ({ tfa_secret: controls.issueTfaSecret() }),
    '/sim/outbid': body => controls.outbid(body.integer('instance_id')),
    '/sim/price-increase': body => ({
      success: true,
      pending_price_increase_id: controls.askPriceIncrease(
        body.integer('instance_id'),
        body.number('factor'),
      ),
    }),
    '/sim/maintenance': body =>
      controls.announceMaintenance(
        body.integer('instance_id'),
        body.number('start_in'),
        body.number('hours'),
        body.optionalString('category'),
      ),
    '/sim/credit': body => controls.setCredit(body.number('credit')),
    '/sim/top-up': body => controls.topUp(body.number('amount')),
    '/sim/deployment': ({ values }) => ({ success: true, deployment: controls.setDeployment(values) }),
    '/sim/faults': body => controls.setFaults(body.array('rules') as FaultInput[]),
  }
  for (const [path, read] of Object.entries(gets)) app.get(path, context => context.json(read()))
  for (const [path, act] of Object.entries(posts)) {
    app.post(path, async context => {
      const body = path === '/sim/tfa-secret' ? new Fields({}) : await readBody(context)
      const answer = (await act(body, context.req.param('id') ?? '')) as object | undefined
      return context.json(answer ?? { success: true })
    })
  }
}

async function changeInstance(controls: Controls, body: Fields, id: string): Promise<void> {
  if (!/^\d{1,15}$/.test(id)) throw noSuchInstance(Number(id))
  const diskUsage = body.optionalNumber('disk_usage')
  const endDate = body.optionalNumber('end_date')
  const host = body.optionalString('ssh_host')
  const port = body.optionalInteger('ssh_port')
  const forced = body.has('actual_status')
  if (!forced && diskUsage === undefined && endDate === undefined && port === undefined) {
    throw body.refuse('actual_status, disk_usage, end_date or ssh_port is needed.')
  }
  const status = !forced || body.values['actual_status'] === null ? null : body.string('actual_status')
  if (forced) await controls.forceStatus(Number(id), status)
  controls.setInstance(Number(id), {
    ...(diskUsage === undefined ? {} : { diskUsage }),
    ...(endDate === undefined ? {} : { endDate }),
    ...(port === undefined ? {} : { ssh: { host: host ?? '127.0.0.1', port } }),
  })
}

function refuseStrangers(context: Context<Bindings>): void {
  const port = context.env.incoming.socket.localPort
  const host = context.req.header('host')
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    throw refusal(403, 'forbidden', 'The control plane answers under its loopback address only.')
  }
  if (context.req.header('origin') !== undefined) {
    throw refusal(403, 'forbidden', 'The control plane does not answer pages.')
  }
  const type = context.req.header('content-type')
  if (context.req.method === 'POST' && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
    throw refusal(415, 'unsupported_media_type', 'The control plane takes application/json only.')
  }
}

async function readBody(context: Context<Bindings>): Promise<Fields> {
  let value: unknown
  try {
    value = JSON.parse(await context.req.text())
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidArgs('The body is not JSON.')
    throw error
  }
  if (!isObject(value)) throw invalidArgs('The body must be a JSON object.')
  return new Fields(value)
}
